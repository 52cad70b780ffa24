"""The templates of a manifest and their calls, as the rules see them.

The rules may rely on the types of the schema, with null for what is left out. Paths are put together
only when something is reported.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from flowdsl.compiler.kinds import (
    BODIES,
    BODY_OF,
    CONTAINER_BODIES,
    EXIT_BODIES,
    LEAF_BODIES,
    LOCATIONS,
    POD_BODIES,
    RESULT_BODIES,
    STORES,
)
from flowdsl.compiler.lint.manifest.dag import Dag
from flowdsl.compiler.tree import compact, entries_at, inside, string
from flowdsl.grammar.regex import regex
from flowdsl.grammar.template import only_tag

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flowdsl.compiler.tree import Object, Path

LONG = 2**15
"""The number of characters from which a script's length is checked: in bytes it may be four times as long."""

_KEYS = {**{one: STORES[one] for one in ("s3", "gcs", "oss", "azure")}, "http": "url", "plugin": "key"}
"""The required field of each kind of artifact location."""

RESULTS = {
    body: regex(rf"{word}(?:\.([-\w]+)\.outputs\.result|\[['\"]([-\w]+)['\"]\]\.outputs.result)")
    for word, body in BODY_OF.items()
}
"""The pattern by which Argo finds the uses of results, in the JSON of a DAG or step list.

Source: Argo Workflows, includeScriptOutput.
"""

LOOPS = ("withItems", "withParam", "withSequence")
"""The fields of which a looped call has exactly one."""

_USUAL = frozenset(("name", "template", "depends", "when", "arguments"))
"""The fields of a call that only names a template and passes values."""

_PARAMETERS = frozenset(("parameters",))


class Template:
    """One template, listed or inline, with the names it declares.

    `path` is its path in the document. `around` is the call that contains an inline template. `calls` are its
    tasks or steps, `hooks` those of its tasks or steps.
    """

    def __init__(self, data: Object, path: Path, around: Call | None = None) -> None:
        self.data = data
        self.path = path
        self.around = around
        self.name: str = data.get("name") or ""
        self.bodies = [body for body in BODIES if data.get(body) is not None]
        self.body = self.bodies[0] if self.bodies else ""
        self.is_pod = self.body in POD_BODIES  # whether it runs as a pod of its own
        self.is_leaf = self.body in LEAF_BODIES  # whether it has timeouts and artifact paths
        self.source = string(data, "script", "source")
        inputs = inside(data, "inputs")
        outputs = inside(data, "outputs")
        self.parameters = by_name(inputs.get("parameters"))
        self.enums: dict[str, list[str]] = {  # the allowed values of those with an enum
            name: choices for name, each in self.parameters.items() if (choices := each.get("enum"))
        }
        self.artifacts = by_name(inputs.get("artifacts"))
        self.output_parameters = by_name(outputs.get("parameters"))
        self.output_artifacts = by_name(outputs.get("artifacts"))
        self.calls: list[Call] = []
        self.hooks: list[Call] = []

    @property
    def title(self) -> str:
        """Its name in messages."""
        return self.name or ("(without a name)" if self.around is None else "(inline)")

    @cached_property
    def text(self) -> str:
        """The template as JSON without its name and script, to search all its texts at once."""
        bare: Object = {**self.data, "name": ""}
        if self.source:
            bare["script"] = {**self.data["script"], "source": ""}
        return compact(bare)

    @property
    def sort(self) -> object:
        """A key that is equal for templates with the same findings: leaves with a harmless name and script.

        What the program in a script does is no part of it: rules that read it look at all templates.
        """
        source = self.source
        if not self.is_leaf or self.around is not None or len(source) >= LONG:
            return id(self)
        return id(self) if "{{" in source or "$" in source or "{{" in self.name else self.text

    def called(self) -> list[Template]:
        """The templates that its tasks and steps run, as far as they are known."""
        return callees(self.calls)

    def graphs(self) -> list[Template]:
        """The DAGs and step lists that its tasks and steps run, as far as they are known."""
        return [each for each in self.called() if each.calls]

    @cached_property
    def outlines(self) -> list[Call]:
        """Its calls and hooks, one for each outline."""
        found: dict[object, Call] = {}
        for call in (*self.calls, *self.hooks):
            found.setdefault(call.outline, call)
        return list(found.values())

    @cached_property
    def containers(self) -> list[tuple[Path, Object]]:
        """Its user-defined containers, each with its path in the template."""
        found: list[tuple[Path, Object]] = [
            ((body,), self.data[body]) for body in CONTAINER_BODIES if self.data.get(body) is not None
        ]
        groups: list[tuple[Path, Object]] = [
            (("containerSet",), inside(self.data, "containerSet")),
            ((), self.data),
        ]
        for path, group in groups:
            for field in ("containers", "initContainers", "sidecars"):
                if field in group:
                    found += entries_at(group, path, field)
        return found

    @cached_property
    def mounting(self) -> list[tuple[Path, Object]]:
        """What mounts volumes, each with its path in the template: its containers, and a container set as a whole."""
        group = inside(self.data, "containerSet")
        return [*self.containers, (("containerSet",), group)] if group else self.containers

    @property
    def mounts(self) -> Iterator[tuple[Path, Object]]:
        """The mounts of volumes, each with its path in the template."""
        for place, owner in self.mounting:
            yield from entries_at(owner, place, "volumeMounts")

    @cached_property
    def required_parameters(self) -> frozenset[str]:
        """The inputs that a call must supply: those without a value, a default, or a ConfigMap to read from.

        Source: Argo Workflows, ProcessArgs, which ignores any other `valueFrom` of an input.
        """
        return frozenset(
            [
                name
                for name, each in self.parameters.items()
                if each.get("value") is None
                and each.get("default") is None
                and inside(each, "valueFrom").get("configMapKeyRef") is None
            ]
        )

    @cached_property
    def required_artifacts(self) -> frozenset[str]:
        """The input artifacts that a call must supply: those that are not optional and have no location."""
        return frozenset(
            name
            for name, artifact in self.artifacts.items()
            if not (artifact.get("optional") or artifact.get("from") or has_location(artifact))
        )

    @cached_property
    def optional_artifacts(self) -> frozenset[str]:
        """The input artifacts that a call may leave out, and that have no location."""
        return frozenset(
            name
            for name, artifact in self.artifacts.items()
            if artifact.get("optional") and not (artifact.get("from") or has_location(artifact))
        )

    @cached_property
    def outputs(self) -> frozenset[str]:
        """What may follow `tasks.<name>.` for a call of this template, not counting what a loop adds."""
        known = {"id", "startedAt", "finishedAt", "status"}
        if self.is_pod:
            known.add("hostNodeName")
        if self.data.get("daemon") and self.is_pod:  # it runs on, with no outputs before it ends
            return frozenset((*known, "ip"))
        if self.body == "suspend":
            known |= {
                f"outputs.parameters.{name}"
                for name, each in self.output_parameters.items()
                if inside(each, "valueFrom").get("supplied") is not None
            }
        elif self.body != "http":  # its only output is the response
            known |= {f"outputs.parameters.{name}" for name in self.output_parameters}
            known |= {f"outputs.artifacts.{name}" for name in self.output_artifacts}
        group = self.containers if self.body == "containerSet" else ()
        has_main = any(each.get("name") == "main" for _, each in group)
        if self.body in RESULT_BODIES or has_main:
            known.add("outputs.result")
        if self.body in EXIT_BODIES or has_main:
            known.add("exitCode")
        return frozenset(known)

    @cached_property
    def looped_outputs(self) -> frozenset[str]:
        """The same for a looped call, whose artifacts are not collected, and which has no pod of its own."""
        own = ("outputs.artifacts.", "exitCode", "hostNodeName", "ip")
        return frozenset(each for each in self.outputs if not each.startswith(own))

    @cached_property
    def collected_outputs(self) -> frozenset[str]:
        """The same for a call with `withItems` or `withParam`, whose parameters are also available as a whole."""
        results = {"outputs.result"} if self.body == "containerSet" else set[str]()
        return self.looped_outputs | results | {"outputs.parameters"}

    @cached_property
    def results_used(self) -> frozenset[str]:
        """The tasks or steps for whose results Argo finds a use in it; only these are stored."""
        pattern = RESULTS.get(self.body)
        found = () if pattern is None else pattern.findall(self.text)
        return frozenset(dotted or quoted for dotted, quoted in found)

    @cached_property
    def dag(self) -> Dag:
        """The order of its tasks; empty unless it is a DAG."""
        return Dag([call.data for call in self.calls] if self.body == "dag" else [])

    @property
    def last(self) -> list[Call]:
        """The calls at the end of a step list or DAG: those of the last group, the targets, or the leaf tasks."""
        if self.body == "steps":
            return [call for call in self.calls if call.group == self.calls[-1].group]
        target = string(self.data, "dag", "target").split()
        return [call for call in self.calls if (call.name in target if target else not call.is_awaited)]

    @cached_property
    def call_index(self) -> dict[str, int]:
        """The position of each task or step by its name; for repeated names, the first."""
        index: dict[str, int] = {}
        for position, call in enumerate(self.calls):
            index.setdefault(call.name, position)
        return index

    def call(self, name: str) -> Call | None:
        """The task or step with a name, the first if there are several; None if there is none."""
        position = self.call_index.get(name)
        return None if position is None else self.calls[position]

    def output(self, variable: str) -> tuple[Call, str] | None:
        """The task or step that a variable is an output of, and what follows `outputs.`; None for other variables."""
        word, _, rest = variable.partition(".")
        name, _, output = rest.partition(".outputs.")
        producer = self.call(name) if output and BODY_OF.get(word) == self.body else None
        return None if producer is None else (producer, output)

    def output_in(self, text: str) -> tuple[Call, str] | None:
        """The same of the variable that a text names, if the text is one simple tag."""
        tag = only_tag(text)
        return None if tag is None else self.output(tag[1].strip())


class Call:
    """A task, a step, or a hook: something that names a template and passes arguments to it.

    `owner` is the template that contains it, an empty one for a hook of the workflow; `place` is the path
    from there, or from the `parent` for a hook of a task or step. `group` is the number of the step group.
    `callee` is None when the template cannot be known from this document or does not exist; `known` tells the
    two apart.
    """

    __slots__ = ("callee", "data", "group", "known", "name", "owner", "parent", "place")

    def __init__(
        self, owner: Template, place: Path, data: Object, group: int = 0, parent: Call | None = None
    ) -> None:
        self.owner = owner
        self.place = place
        self.data = data
        self.group = group
        self.parent = parent
        self.name: str = data.get("name") or ""
        self.callee: Template | None = None
        self.known = True

    @property
    def title(self) -> str:
        """Its name in messages; that of a hook is its key."""
        return self.name or str(self.place[-1])

    @property
    def path(self) -> Path:
        """Its path in the document."""
        return (self.parent or self.owner).path + self.place

    @property
    def depends(self) -> str:
        """The text of its `depends`; empty if it has none."""
        return self.data.get("depends") or ""

    @property
    def is_task(self) -> bool:
        """Whether it is a task of a DAG, and neither a step nor a hook."""
        return self.parent is None and self.owner.body == "dag"

    @property
    def is_awaited(self) -> bool:
        """Whether another task of its DAG depends on it."""
        return self.owner.call_index.get(self.name) in self.owner.dag.needed

    @property
    def loop(self) -> str:
        """The field that makes it a loop; empty if there is none. An empty `withItems` makes no loop."""
        data = self.data
        if data.keys().isdisjoint(LOOPS):
            return ""
        return next((field for field in LOOPS if data.get(field) not in (None, [], "")), "")

    @property
    def outline(self) -> object:
        """A key that is equal for calls of one owner with the same template and parameters, but other texts."""
        data, callee = self.data, self.callee
        if callee is None or callee.enums or self.parent is not None or not _USUAL.issuperset(data):
            return id(self)
        arguments: Object = data.get("arguments") or {}
        if not _PARAMETERS.issuperset(arguments):
            return id(self)
        names: list[object] = []
        for parameter in arguments.get("parameters") or ():
            if len(parameter) != 2 or type(parameter.get("value")) is not str:
                return id(self)
            names.append(parameter.get("name"))
        return (id(callee), *data, 0, *names)

    @property
    def outputs(self) -> frozenset[str] | None:
        """What may follow `tasks.<name>.`; None when the template is not known."""
        if self.callee is None:
            return None
        data = self.data
        if data.get("withItems") or data.get("withParam"):
            return self.callee.collected_outputs
        return self.callee.looped_outputs if data.get("withSequence") else self.callee.outputs


def callees(calls: Iterable[Call]) -> list[Template]:
    """The templates that calls run, as far as they are known."""
    return [call.callee for call in calls if call.callee is not None]


def by_name(entries: Iterable[Object] | None) -> dict[str, Object]:
    """Entries of a list by their names."""
    return {entry.get("name") or "": entry for entry in entries} if entries else {}


def without_key(artifact: Object) -> str:
    """The field that an artifact location lacks, in words; empty where no location is given, or it is complete."""
    begun = (field for field in _KEYS if inside(artifact, field) and not artifact[field].get(_KEYS[field]))
    return next((f"`{_KEYS[field]}` of `{field}`" for field in begun), "")


def has_location(artifact: Object) -> bool:
    """Whether an artifact has a location: in a bucket of its own, or by a key in the default repository.

    Source: Argo Workflows, Artifact.HasLocationOrKey. Missing fields of Git and HDFS are reported elsewhere.
    """
    return any(
        (location := artifact.get(field)) is not None
        and (field not in _KEYS or bool(location.get(_KEYS[field])))
        for field in LOCATIONS
    )
