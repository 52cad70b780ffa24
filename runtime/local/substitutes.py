"""Stand-ins for pods: outputs that the user gives, and those of an earlier run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.expressions import VOLUMES
from flowdsl.compiler.kinds import GRAPH_BODIES, STORES, kind
from flowdsl.grammar.reason import said
from flowdsl.grammar.regex import regex
from flowdsl.runtime.documents import called
from flowdsl.runtime.local import journal
from flowdsl.runtime.local.controller import events
from flowdsl.runtime.local.controller.names import any_string
from flowdsl.runtime.local.error import RunError
from flowdsl.runtime.local.places import file_of, link, linked, on_volume
from flowdsl.runtime.local.pods.store import copied, place
from flowdsl.runtime.logs.source import place as way
from flowdsl.runtime.names import is_hidden, listed, meant, spelled
from flowdsl.runtime.parts import part, several, texts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from flowdsl.runtime.local.controller.node import Node

Json = dict[str, Any]

_STEPS = ("Pod", "Suspend", "HTTP", "DAG", "Steps", "Retry")
_LABEL = regex(r"\((\d+):[^()]*\)$")
_SHOWN = 5
_BY_ITSELF = frozenset((*STORES, "git", "http", "raw", "value", "valueFrom", "default"))
"""The fields of an input that has a value without an argument."""
_HOOK = regex(r"\.onExit|\.hooks\.")
_ROUNDS = regex(r"(?:\([^()]*\))+$")


def task_of(name: str, run: str) -> str:
    """The name of a task without rounds and attempts: `train` for `run.train(2:lr:0.1)(0)`."""
    return _ROUNDS.sub("", name.removeprefix(run)).rpartition(".")[2] or run


def choices(inputs: Json | None, output: str) -> list[str]:
    """The answers that a suspended step accepts, those of its input of that name; none if it accepts any."""
    found = next((one for one in several(inputs, "parameters") if one["name"] == output), Json())
    return [any_string(value) for value in texts(found, "enum")]


def by_name(steps: Mapping[str, Json]) -> dict[str, Json]:
    """The templates of steps by all names that `--fake` accepts: their own, and those of the tasks that call them."""
    return {**{str(one.get("name", "")): one for one in steps.values()}, **steps}


class Fakes:
    """Outputs for steps, by the name of the task or of its template: `step=value`, `step.output=value`."""

    called = "faked"

    def __init__(self, folder: Path, run: str, texts: Sequence[str], volumes: Mapping[str, Path]) -> None:
        self._folder = folder
        self._run = run
        self._volumes = volumes
        self._given: dict[str, dict[str, str]] = {}
        for text in texts:
            name, equals, value = text.partition("=")
            step, _, output = name.partition(".")
            if not equals or not step:
                raise RunError(f"--fake {text}: write --fake STEP=VALUE, or STEP.OUTPUT=VALUE")
            if output in self._given.setdefault(step, {}):
                raise RunError(f"--fake {name} is given twice")
            self._given[step][output] = value

    @property
    def names(self) -> frozenset[str]:
        """The faked steps."""
        return frozenset(self._given)

    def check(self, steps: Mapping[str, Json]) -> None:
        """Refuse fakes for unknown steps or without a value; `steps` has templates by task. Raises RunError."""
        known = by_name(steps)
        for asked, given in [*self._given.items()]:
            step = spelled(asked, known)
            if step != asked and step not in self._given:
                self._given[step] = self._given.pop(asked)
            template = known.get(step)
            if template is None:
                raise RunError(f"--fake {step}: there is no step `{step}`{said_near(step, known, steps)}")
            if kind(template) in GRAPH_BODIES:
                self._inside(step, given, template, known)
            else:
                self._outputs(step, given, template, None)
        for step, given in self._given.items():
            if "suspend" in (template := known[step]):
                _judge(step, _named_outputs(part(template, "outputs"), given), part(template, "inputs"))

    def _inside(self, step: str, given: dict[str, str], template: Json, known: Mapping[str, Json]) -> None:
        """Fake the steps of a graph, if one of them has all of its outputs, and the others have none."""
        tasks = several(part(template, "dag"), "tasks")
        looped = any(key.startswith("with") for one in tasks for key in one)
        inside = [known.get(str(one.get("template")), {}) for one in tasks]
        last = [one for one in inside if several(part(one, "outputs"), "parameters")]
        leaves = all(one and kind(one) not in GRAPH_BODIES for one in inside)
        if looped or len(last) > 1 or not leaves or part(template, "outputs").keys() - {"parameters"}:
            names = ", ".join(str(one.get("name")) for one in called(template))
            raise RunError(f"--fake {step}: `{step}` is a graph of steps; name one of these: {names}")
        del self._given[step]
        for one in inside:
            self._given[str(one["name"])] = dict(given) if one in last or not last else {"": ""}
        self._outputs(step, given, last[0] if last else inside[-1], None)

    def __call__(self, pod: events.StartPod) -> events.Outcome | None:
        """The outcome of a faked step. Raises RunError if a value is missing."""
        found = self._named(pod.name, str(pod.template.get("name", "")))
        if found is None:
            return None
        return events.Outcome(
            "Succeeded", outputs=self._outputs(found, self._given[found], pod.template, pod)
        )

    def supplied(self, node: Node) -> dict[str, str] | None:
        """The answer for a suspended step, if it is faked."""
        found = self._named(node.name, node.template)
        if found is None:
            return None
        return _named_outputs(node.outputs, self._given[found])

    def _named(self, name: str, template: str) -> str | None:
        return next((one for one in (task_of(name, self._run), template) if one in self._given), None)

    def _outputs(self, step: str, given: dict[str, str], template: Json, pod: events.StartPod | None) -> Json:
        """The outputs of a step; without a pod, no files are copied."""
        declared = part(template, "outputs")
        parameters, artifacts = several(declared, "parameters"), several(declared, "artifacts")
        left = dict(given)
        made: Json = {"exitCode": "0"}
        wanted = [one for one in parameters if one.get("value") is None or _stored(one)]
        names = list(dict.fromkeys(str(one["name"]) for one in (*wanted, *artifacts)))
        if any(is_hidden(name) and name not in left for name in names):
            raise RunError(
                f"--fake {step}: a step whose files are listed beside them can be faked "
                "where the pipeline itself is run, not its YAML: flowdsl run PIPELINE.py"
            )
        if "" in left and len(names) == 1:
            left[names[0]] = left.pop("")
        elif "" in left and names:
            ways = " ".join(f"--fake {step}.{name}=..." for name in names)
            raise RunError(f"--fake {step}: it has several outputs: {ways}")
        if unknown := left.keys() - ({*names} or {""}):
            wrong = min(unknown)
            raise RunError(
                f"--fake {step}.{wrong}: `{step}` has no output `{wrong}`{said_near(wrong, names)}"
            )
        values = [self._parameter(step, one, left, pod) for one in parameters]
        files = [self._artifact(step, one, left, pod) for one in artifacts]
        if values:
            made["parameters"] = values
        if any(one is not None for one in files):
            made["artifacts"] = [one for one in files if one is not None]
        if "" in left and not names:
            made["result"] = left[""]
        return made

    def _parameter(self, step: str, one: Json, given: dict[str, str], pod: events.StartPod | None) -> Json:
        name = str(one["name"])
        default = part(one, "valueFrom").get("default")
        if _stored(one):
            source = self._file(step, name, given, may_lack=True)
            target = on_volume(str(one["value"]), self._volumes)
            if pod is not None and source is not None and target is not None:
                _copy(source, target)
            return one
        if one.get("value") is not None:
            return one
        if name in given:
            return {**one, "value": given.pop(name)}
        if default is None:
            raise RunError(
                f"--fake {step}: the output `{name}` needs a value too: --fake {step}.{name}=VALUE"
            )
        return {**one, "value": any_string(default)}

    def _artifact(
        self, step: str, one: Json, given: dict[str, str], pod: events.StartPod | None
    ) -> Json | None:
        name = str(one["name"])
        if name not in given and one.get("optional"):
            return None
        source = self._file(step, name, given, bool(one.get("optional")))
        if source is None:
            return None
        key = str(part(one, "s3").get("key") or f"{self._run}/{pod.pod if pod else ''}/{name}")
        if pod is not None:
            _copy(source, self._folder / "artifacts" / key)
        return {**one, "archive": {"none": {}}, "s3": {"key": key}}

    def _file(self, step: str, name: str, given: dict[str, str], may_lack: bool) -> Path | None:
        """The file given for an output, or None if an empty text says that there is none. Raises RunError."""
        text = given.pop(name, None)
        if text is None or not (text or may_lack):
            raise RunError(f"--fake {step}: the file `{name}` needs a path: --fake {step}.{name}=PATH")
        source = Path(text).expanduser()
        if not source.exists():
            raise RunError(f"--fake {step}.{name}={source}: there is no {source}")
        return source if text else None


def _named_outputs(outputs: Json | None, given: dict[str, str]) -> dict[str, str]:
    """The given outputs by name; a value without a name is for the only one."""
    names = [str(one["name"]) for one in several(outputs, "parameters")]
    return {names[0]: given[""]} if "" in given and len(names) == 1 else given


def _judge(step: str, answers: Mapping[str, str], inputs: Json) -> None:
    """Refuse an answer that a suspended step does not accept, as far as that is known. Raises RunError."""
    for name, value in answers.items():
        allowed = choices(inputs, name)
        if allowed and value not in allowed and "{{" not in "".join(allowed):
            raise RunError(f"--fake {step}={value}: `{name}` is one of {', '.join(allowed)}")


def _stored(one: Json) -> bool:
    """Whether an output is a file that its step writes to a volume."""
    return str(one.get("value") or "").startswith(f"{VOLUMES}/")


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    copied(source, target)


def said_near(name: str, known: Iterable[str], own: Iterable[str] = ()) -> str:
    """The name that was probably meant; or the existing ones, of which `own` says which are the user's."""
    names = [one for one in known if one]
    return f"; {meant(name, names, listed([one for one in own if one] or names))}" if names else ""


class Earlier:
    """An earlier run: the results of its steps, for all but one step and its successors."""

    def __init__(self, folder: Path, target: Path, step: str, run: str, option: str) -> None:
        try:
            header, past, _ = journal.read(journal.of_run(folder))
            self.status: Json = json.loads((folder / "workflow.json").read_bytes())
        except (journal.JournalError, OSError, ValueError) as error:
            raise RunError(f"the run in {folder} cannot be used: {said(error)}") from None
        self._from, self._target = folder, target
        self.called = f"from {folder.name}"
        self.manifest: Json = header["manifest"]
        self.references: list[Json] = header["references"]
        self.settings: Json = header["settings"]
        self._name = str(part(self.manifest, "metadata").get("name", ""))
        self._run = run
        nodes = part(part(self.status, "status"), "nodes")
        again = _following(nodes, _named(nodes.values(), step, self._name), self._name)
        if not again:
            known = _tasks(nodes.values(), self._name, (*_STEPS, "Skipped"))
            raise RunError(
                f"{option} {step}: the run {self._name} has no step `{step}`{said_near(step, known)}"
            )
        self._moved: dict[str, str] = {}
        """The keys of files in the earlier run, and their keys in this one."""
        kept = _kept(past, nodes, again | self._gone(nodes, again))
        self._kept = {name: self._renamed(outcome) for name, outcome in kept.items()}
        self._answers = _answers(nodes, again)
        inside = {str(node["name"]): task_of(node["name"], self._name) for node in nodes.values()}
        open_steps = {task for name, task in inside.items() if name not in self._kept}
        self.names = frozenset(inside[name] for name in self._kept) - open_steps
        """The tasks of which no part runs again."""

    def _gone(self, nodes: Json, again: set[str]) -> set[str]:
        """The nodes whose objects no longer exist, and are awaited by a sibling that runs again."""
        known = {
            str(one["name"]): one
            for document in (self.manifest, *self.references)
            for one in several(part(document, "spec"), "templates")
            if "resource" in one and "name" in one
        }
        if not known:
            return set()
        from flowdsl.runtime.local.pods.jobs import does

        done = {each: does(known.get(str(node.get("templateName")), {})) for each, node in nodes.items()}
        awaited = {nodes[each].get("boundaryID") for each in again if "awaits" in done.get(each, ())}
        return {
            each
            for each, found in done.items()
            if found and "awaits" not in found and nodes[each].get("boundaryID") in awaited
        }

    def _renamed(self, outcome: events.Outcome) -> events.Outcome:
        """The outcome with the keys that this run gives its files: a list of files is found by its folder alone."""
        outputs = outcome.outputs or {}
        artifacts = [self._with_key(one) for one in several(outputs, "artifacts")]
        return outcome._replace(outputs={**outputs, "artifacts": artifacts}) if artifacts else outcome

    def _with_key(self, artifact: Json) -> Json:
        kind, key = place(artifact)
        parts = key.split("/")
        if self._name not in parts or file_of(artifact, self._from) is None:
            return artifact
        self._moved[key] = "/".join(self._run if one == self._name else one for one in parts)
        return {**artifact, kind: {**artifact[kind], STORES[kind]: self._moved[key]}}

    def keys(self) -> frozenset[str]:
        """The keys of the files and folders that the earlier run stored."""
        store = self._from / "artifacts"
        return frozenset(path.relative_to(store).as_posix() for path in store.rglob("*"))

    def bring(self) -> None:
        """Make the files of the earlier run available to this one."""
        before, now = self._from / "artifacts", self._target / "artifacts"
        if before.is_dir():
            shutil.copytree(before, now, copy_function=link, dirs_exist_ok=True)
        for key, moved in self._moved.items():
            linked(before / key, now / moved)

    def __call__(self, pod: events.StartPod) -> events.Outcome | None:
        """The outcome of the step of the same name in the earlier run, if it is not to run again."""
        return self._kept.get(self._name + pod.name.removeprefix(self._run))

    def supplied(self, node: Node) -> dict[str, str] | None:
        """The answer that a suspended step got in the earlier run."""
        return self._answers.get(self._name + node.name.removeprefix(self._run))


def _tasks(nodes: Iterable[Json], run: str, types: Iterable[str]) -> list[str]:
    """The names of the tasks of nodes of some types."""
    wanted = set(types)
    named = (task_of(node["name"], run) for node in nodes if node["type"] in wanted and node["name"] != run)
    return list(dict.fromkeys(named))


def _borne(node: Json, nodes: Json) -> bool:
    """Whether something that contains a node succeeded nevertheless."""
    at: Json | None = nodes.get(node.get("boundaryID", ""))
    while at is not None and at["phase"] != "Succeeded":
        at = nodes.get(at.get("boundaryID", ""))
    return at is not None


def _following(nodes: Json, first: Iterable[Json], run: str) -> set[str]:
    """Nodes with all of their successors: including their hooks, and those of the run."""
    waiting = [str(node["id"]) for node in first]
    hooks: dict[str, list[str]] = {}
    for identity, node in nodes.items():
        for mark in _HOOK.finditer(node["name"]):
            hooks.setdefault(node["name"][: mark.start()], []).append(identity)
    if waiting:
        waiting += hooks.get(run, ())
    found: set[str] = set()
    while waiting:
        identity = waiting.pop()
        if identity in found or identity not in nodes:
            continue
        found.add(identity)
        at: Json = nodes[identity]
        waiting.extend(at.get("children") or [])
        waiting.extend(at.get("outboundNodes") or [])
        waiting.extend(hooks.get(at["name"], ()))
    return found


def _kept(past: Iterable[events.Event], nodes: Json, again: Collection[str]) -> dict[str, events.Outcome]:
    """The outcomes of pods that do not run again, by node name; an attempt that succeeded becomes the first one."""
    outcomes = {event.node: event.outcome for event in past if isinstance(event, events.PodEnded)}
    kept = {
        str(nodes[identity]["name"]): outcome
        for identity, outcome in outcomes.items()
        if identity in nodes
        and identity not in again
        and not nodes[identity].get("podIP")  # a daemon: steps that run again need a running one
        and (outcome.phase == "Succeeded" or _borne(nodes[identity], nodes))
    }
    for node in nodes.values():
        if node["type"] == "Retry" and node["phase"] == "Succeeded":
            children: list[str] = node.get("children") or []
            below = (nodes[one] for one in children if one in nodes)
            names = [str(one["name"]) for one in below if part(one, "nodeFlag").get("retried")]
            last = next((kept[one] for one in reversed(names) if one in kept), None)
            if last is not None:
                kept[f"{node['name']}(0)"] = last
    return kept


def _answers(nodes: Json, again: Collection[str]) -> dict[str, dict[str, str]]:
    """The answers of suspended steps that do not run again, by node name."""
    return {
        str(node["name"]): {
            str(one["name"]): any_string(one["value"]) for one in several(part(node, "outputs"), "parameters")
        }
        for node in nodes.values()
        if node["type"] == "Suspend" and node["phase"] == "Succeeded" and node["id"] not in again
    }


def _named(nodes: Collection[Json], step: str, run: str) -> list[Json]:
    """The nodes of a step: of the tasks of that name, or if there are none, of those that call that function."""
    hyphened = step.replace("_", "-")
    for wanted in (step, hyphened):
        if found := [node for node in nodes if _is(node, wanted, run)]:
            return found
    alone = [node for node in nodes if node["name"] != run or node["type"] in _STEPS]
    return [node for node in alone if node.get("templateName") == hyphened]


def _is(node: Json, step: str, run: str) -> bool:
    name = node["displayName"]
    if step in (name, _LABEL.sub(r"(\1)", name), task_of(node["name"], run)):
        return True
    return not {".", "("}.isdisjoint(step) and way(run, node["name"]).ends(step)


def _with_others(step: str, node: Json, nodes: Sequence[Json], spec: Json, run: str) -> None:
    """Refuse a step that waits for the object of a sibling: alone it has none. Raises RunError."""
    from flowdsl.runtime.local.pods.jobs import does

    known = {str(one.get("name")): one for one in several(spec, "templates")}
    template = known.get(str(node["templateName"]), Json())
    if part(template, "resource").get("action") != "get" or "awaits" not in does(template):
        return
    around = next((one for one in nodes if one["id"] == node.get("boundaryID") and one["name"] != run), None)
    way_out = f"--from {step}" if around is None else f"--only {task_of(around['name'], run)}"
    raise RunError(f"--only {step}: it waits for an object that a step beside it makes: run both, {way_out}")


def only(manifest: Json, status: Json, step: str) -> Json:
    """A workflow of one step, with the inputs that it had in an earlier run. Raises RunError."""
    nodes: list[Json] = list(part(part(status, "status"), "nodes").values())
    run = str(part(status, "metadata").get("name", ""))
    leaves = [node for node in nodes if node["type"] in _STEPS and node.get("templateName")]
    leaves = [node for node in leaves if not part(node, "nodeFlag").get("retried")]  # attempts of one of them
    found = _named(leaves, step, run)
    if not found:
        known = _tasks(nodes, run, _STEPS)
        raise RunError(f"--only {step}: the run {run} has no step `{step}`{said_near(step, known)}")
    tasks = _tasks(found, run, _STEPS)
    if len(tasks) > 1 and step not in tasks:
        raise RunError(f"--only {step}: several steps call it, name one of them: {', '.join(tasks)}")
    rounds = list(dict.fromkeys(_LABEL.sub(r"(\1)", one["displayName"]) for one in found))
    if len(rounds) > 1 and all(_LABEL.search(one["displayName"]) for one in found):
        raise RunError(f"--only {step}: it has {len(rounds)} rounds, name one of them: {_some(rounds)}")
    ways: dict[str, Json] = {}
    for one in found:
        ways.setdefault(".".join(way(run, one["name"]).path), one)
    if len(ways) > 1 and step not in ways:
        raise RunError(f"--only {step}: it ran {len(ways)} times, name one of them: {_some([*ways])}")
    node = ways.get(step, found[0])
    spec: Json = part(manifest, "spec")
    _with_others(step, node, nodes, spec, run)
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
    if missing := _not_had(spec, str(node["templateName"]), arguments):
        named = f"input{'s' * (len(missing) > 1)} {', '.join(missing)}"
        raise RunError(
            f"--only {step}: in the run {run} it did not have the {named}: "
            f"run it with what it needs and what follows it, --from {step}"
        )
    return {**manifest, "spec": {**rest, "entrypoint": node["templateName"], "arguments": arguments}}


def _some(names: Sequence[str]) -> str:
    """The first names in quotes, since they contain brackets, which are special to shells."""
    return ", ".join(f"'{one}'" for one in names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")


def _not_had(spec: Json, template: str, arguments: Json) -> list[str]:
    """The inputs of a template that have no value of their own and none among the earlier arguments."""
    named = {str(one.get("name")): one for one in several(spec, "templates")}
    inputs = part(named.get(template), "inputs")
    had = {(kind, one["name"]) for kind, listed in arguments.items() for one in listed}
    return [
        f"`{one['name']}`"
        for kind in ("parameters", "artifacts")
        for one in several(inputs, kind)
        if (kind, one["name"]) not in had and _BY_ITSELF.isdisjoint(one) and not one.get("optional")
    ]
