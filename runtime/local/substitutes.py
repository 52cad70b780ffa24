"""Stand-ins for pods: outputs that the user gives."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.kinds import GRAPH_BODIES, kind
from flowdsl.runtime.documents import called
from flowdsl.runtime.local.controller import events
from flowdsl.runtime.local.controller.names import any_string
from flowdsl.runtime.local.error import RunError
from flowdsl.runtime.local.places import below
from flowdsl.runtime.local.pods.store import copied, place, stored_at
from flowdsl.runtime.names import is_hidden, on_volume, said_near, spelled, task_of
from flowdsl.runtime.parts import part, several, texts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flowdsl.runtime.local.controller.node import Node

Json = dict[str, Any]


def choices(inputs: Json | None, output: str) -> list[str]:
    """The answers that a suspended step accepts, those of its input of that name; none if it accepts any."""
    found = next((one for one in several(inputs, "parameters") if one["name"] == output), Json())
    return [any_string(value) for value in texts(found, "enum")]


def step_of(fake: str) -> str:
    """The step that STEP=VALUE or STEP.OUTPUT=VALUE is for."""
    return fake.partition("=")[0].partition(".")[0]


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
        templates = {str(one.get("name", "")): one for one in steps.values()}
        leaves: dict[str, Json] = {}
        for asked, given in [*self._given.items()]:
            step = spelled(asked, known)
            if step != asked and step not in self._given:
                self._given[step] = self._given.pop(asked)
            template = known.get(step)
            if template is None:
                raise RunError(f"--fake {step}: there is no step `{step}`{said_near(step, known, steps)}")
            if kind(template) in GRAPH_BODIES:
                leaves |= self._inside(step, given, template, templates)
            else:
                self._outputs(step, given, template, None)
                leaves[step] = template
        for step, template in leaves.items():
            if "suspend" in template:
                given = self._given[step]
                _judge(step, _named_outputs(part(template, "outputs"), given), part(template, "inputs"))

    def _inside(
        self, step: str, given: dict[str, str], template: Json, templates: Mapping[str, Json]
    ) -> dict[str, Json]:
        """Fake the steps of a graph, if one of them has all of its outputs, and the others have none."""
        tasks = several(part(template, "dag"), "tasks")
        looped = any(key.startswith("with") for one in tasks for key in one)
        inside = [templates.get(str(one.get("template")), {}) for one in tasks]
        last = [one for one in inside if several(part(one, "outputs"), "parameters")]
        leaves = all(one and kind(one) not in GRAPH_BODIES for one in inside)
        if looped or len(last) > 1 or not leaves or part(template, "outputs").keys() - {"parameters"}:
            names = ", ".join(str(one.get("name")) for one in called(template))
            raise RunError(f"--fake {step}: `{step}` is a graph of steps; name one of these: {names}")
        del self._given[step]
        for one in inside:
            self._given[str(one["name"])] = dict(given) if one in last or not last else {"": ""}
        self._outputs(step, given, last[0] if last else inside[-1], None)
        return {str(one["name"]): one for one in inside}

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
            target = below(self._volumes, str(one["value"]))
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
        made: Json = {**one, "archive": {"none": {}}}
        if not place(one)[1]:
            made["s3"] = {"key": f"{self._run}/{pod.pod if pod else ''}/{name}"}
        target = stored_at(self._folder / "artifacts", place(made)[1])
        if pod is not None:
            _copy(source, target)
        return made

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
    return on_volume(str(one.get("value") or "")) is not None


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    copied(source, target)
