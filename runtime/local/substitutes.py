"""What stands in for pods: outputs that somebody names, and those of an earlier run."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

from flowdsl.runtime.local import events, journal
from flowdsl.runtime.local.names import any_string
from flowdsl.runtime.local.runner import RunError
from flowdsl.runtime.local.shapes import part, several

Json = dict[str, Any]

_ROUNDS = re.compile(r"(?:\([^()]*\))+$")


def task_of(name: str, run: str) -> str:
    """The name of a task without its rounds and attempts: `train` of `run.train(2:lr:0.1)(0)`."""
    return _ROUNDS.sub("", name.removeprefix(run)).rpartition(".")[2] or run


class Fakes:
    """Outputs for steps, by the name of the task or of its template: `step=value`, `step.output=value`."""

    def __init__(self, folder: Path, run: str, texts: list[str]) -> None:
        self._folder = folder
        self._run = run
        self._given: dict[str, dict[str, str]] = {}
        self.used: set[str] = set()
        for text in texts:
            name, equals, value = text.partition("=")
            step, _, output = name.partition(".")
            if not equals or not step:
                raise RunError(f"--fake {text}: write STEP=VALUE, or STEP.OUTPUT=VALUE")
            self._given.setdefault(step, {})[output] = value

    def __call__(self, pod: events.StartPod) -> events.Outcome | None:
        """The outcome of a step that is faked. Raises RunError where a value is missing."""
        names = (task_of(pod.name, self._run), str(pod.template.get("name", "")))
        found = next((name for name in names if name in self._given), None)
        if found is None:
            return None
        self.used.add(found)
        return events.Outcome("Succeeded", outputs=self._outputs(found, self._given[found], pod))

    def unused(self) -> list[str]:
        """The steps that were named, and did not run."""
        return sorted(self._given.keys() - self.used)

    def _outputs(self, step: str, given: dict[str, str], pod: events.StartPod) -> Json:
        declared = part(pod.template, "outputs")
        parameters, artifacts = several(declared, "parameters"), several(declared, "artifacts")
        left = dict(given)
        made: Json = {"exitCode": "0"}
        wanted = [one for one in parameters if one.get("value") is None]
        names = [str(one["name"]) for one in (*wanted, *artifacts)]
        if "" in left and len(names) == 1:
            left[names[0]] = left.pop("")
        values = [self._parameter(step, one, left) for one in parameters]
        files = [self._artifact(step, one, left, pod) for one in artifacts]
        if values:
            made["parameters"] = values
        if any(one is not None for one in files):
            made["artifacts"] = [one for one in files if one is not None]
        if "" in left and not names:
            made["result"] = left.pop("")
        if left:
            wrong = next(iter(left)) or step
            raise RunError(
                f"--fake {step}: it has no output `{wrong}`; its outputs: {', '.join(names) or 'none'}"
            )
        return made

    def _parameter(self, step: str, one: Json, given: dict[str, str]) -> Json:
        name = str(one["name"])
        default = part(one, "valueFrom").get("default")
        if name in given:
            return {**one, "value": given.pop(name)}
        if one.get("value") is not None:
            return one
        if default is None:
            raise RunError(
                f"--fake {step}: the output `{name}` needs a value too: --fake {step}.{name}=VALUE"
            )
        return {**one, "value": any_string(default)}

    def _artifact(self, step: str, one: Json, given: dict[str, str], pod: events.StartPod) -> Json | None:
        name = str(one["name"])
        if name not in given:
            if one.get("optional"):
                return None
            raise RunError(f"--fake {step}: the file `{name}` needs a path: --fake {step}.{name}=PATH")
        source = Path(given.pop(name))
        if not source.exists():
            raise RunError(f"--fake {step}.{name}: there is no {source}")
        key = str(part(one, "s3").get("key") or f"{self._run}/{pod.pod}/{name}")
        target = self._folder / "artifacts" / key
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        else:
            shutil.copy2(source, target)
        return {**one, "archive": {"none": {}}, "s3": {"key": key}}


class Earlier:
    """An earlier run: what its steps gave, for all but one step and what follows it."""

    def __init__(self, folder: Path, target: Path, step: str, run: str) -> None:
        try:
            header, past, _ = journal.read(folder / "journal.jsonl")
            self.status: Json = json.loads((folder / "workflow.json").read_bytes())
        except (journal.JournalError, OSError, ValueError) as error:
            raise RunError(f"the run in {folder} cannot be used: {error}") from None
        self.manifest: Json = header["manifest"]
        self.references: list[Json] = header["references"]
        self.settings: Json = header["settings"]
        self._name = str(part(self.manifest, "metadata").get("name", ""))
        self._run = run
        nodes = part(part(self.status, "status"), "nodes")
        outcomes = {event.node: event.outcome for event in past if isinstance(event, events.PodEnded)}
        again = _following(nodes, step, self._name)
        if not again:
            names = sorted(
                {task_of(node["name"], self._name) for node in nodes.values() if node["type"] == "Pod"}
            )
            raise RunError(f"the run {self._name} has no step `{step}`; its steps: {', '.join(names)}")
        self._kept = {
            str(nodes[identity]["name"]): outcome
            for identity, outcome in outcomes.items()
            if outcome.phase == "Succeeded" and identity in nodes and identity not in again
        }
        artifacts = folder / "artifacts"
        if artifacts.is_dir() and folder != target:
            shutil.copytree(artifacts, target / "artifacts", copy_function=_link, dirs_exist_ok=True)

    def __call__(self, pod: events.StartPod) -> events.Outcome | None:
        """What the step of the same name gave in the earlier run, if it is not to run again."""
        return self._kept.get(self._name + pod.name.removeprefix(self._run))


def _link(source: str, target: str) -> None:
    """A second name for a file that is not written again; a copy where the file system has no links."""
    try:
        Path(target).hardlink_to(source)
    except OSError:
        shutil.copy2(source, target)


def _following(nodes: Json, step: str, run: str) -> set[str]:
    """The nodes of a step, with all that came after them."""
    waiting = [identity for identity, node in nodes.items() if _is(node, step, run)]
    found: set[str] = set()
    while waiting:
        identity = waiting.pop()
        if identity in found or identity not in nodes:
            continue
        found.add(identity)
        node: Json = nodes[identity]
        waiting.extend(node.get("children") or [])
        waiting.extend(node.get("outboundNodes") or [])
    return found


def _is(node: Json, step: str, run: str) -> bool:
    return step in (node["displayName"], task_of(node["name"], run))


def only(manifest: Json, status: Json, step: str) -> Json:
    """A workflow of one step, with the inputs that it had in an earlier run. Raises RunError."""
    nodes: list[Json] = list(part(part(status, "status"), "nodes").values())
    run = str(part(manifest, "metadata").get("name", ""))
    wanted = ("Pod", "Suspend", "HTTP", "DAG", "Steps", "Retry")
    found = [
        node for node in nodes if node["type"] in wanted and node.get("templateName") and _is(node, step, run)
    ]
    if not found:
        names = sorted({task_of(node["name"], run) for node in nodes if node["type"] == "Pod"})
        raise RunError(f"the run {run} has no step `{step}` with a template; its steps: {', '.join(names)}")
    node = next((one for one in found if one["type"] == "Retry"), found[0])
    spec: Json = part(manifest, "spec")
    inputs = part(node, "inputs")
    arguments: Json = {}
    if inputs.get("parameters"):
        arguments["parameters"] = [
            {"name": one["name"], "value": one.get("value", "")} for one in inputs["parameters"]
        ]
    if inputs.get("artifacts"):
        arguments["artifacts"] = [
            {key: value for key, value in one.items() if key not in ("path", "mode")}
            for one in inputs["artifacts"]
        ]
    left = ("onExit", "hooks", "arguments", "entrypoint")
    rest = {key: value for key, value in spec.items() if key not in left}
    parameters = several(part(spec, "arguments"), "parameters")
    given = {str(one["name"]) for one in arguments.get("parameters", [])}
    arguments["parameters"] = [
        *arguments.get("parameters", []),
        *(one for one in parameters if one["name"] not in given),
    ]
    return {**manifest, "spec": {**rest, "entrypoint": node["templateName"], "arguments": arguments}}
