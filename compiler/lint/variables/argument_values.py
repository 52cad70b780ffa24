"""Values of arguments and inputs: from a source that they may have, and allowed by their enum."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.kinds import GRAPH_BODIES
from flowdsl.compiler.lint.manifest.template import has_location
from flowdsl.compiler.lint.variables.arguments import has_value
from flowdsl.compiler.lint.variables.findings import LiteralTag
from flowdsl.compiler.lint.variables.scope import misspelt
from flowdsl.compiler.lint.workflow.passed_values import handed
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import entries_at, inside, string
from flowdsl.diagnostic import Finding, suggest
from flowdsl.grammar.template import TAG

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import TypeGuard

    from flowdsl.compiler.lint.manifest.template import Call
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Object, Path

_FORBIDDEN = ("path", "jsonPath", "parameter", "expression")


class NoValue(Finding):
    """An argument without a value."""

    code = "FD532"
    title = "argument `{name}` has no value"
    label = "needs `value` or `valueFrom`"
    help = "add `value`, or `valueFrom` with `configMapKeyRef`"
    name: str


class BadSource(Finding):
    """An argument whose value comes from where arguments cannot."""

    code = "FD533"
    title = "the value of argument `{name}` cannot come from `valueFrom` {found}"
    label = "only {sources}"
    help = "use `value` with a tag, such as `value: '{{{{=...}}}}'`, or `configMapKeyRef`"
    name: str
    found: str
    sources: str


class NotInEnum(Finding):
    """An argument that is none of the values it declares itself."""

    code = "FD534"
    title = "`{value}` is not one of the values of `{name}`"
    label = "{suggestion}"
    help = "use one of {choices}"
    name: str
    value: str
    choices: Sequence[str]

    def words(self) -> dict[str, str]:
        """The value and what was probably meant."""
        return super().words() | {"suggestion": suggest(self.value, self.choices)}


class NotInInputEnum(NotInEnum):
    """An argument that is none of the values of the template's input, which Argo does not check."""

    code = "FD535"
    severity = "warning"


class NoArtifactSource(Finding):
    """An artifact argument without a source."""

    code = "FD536"
    title = "artifact `{name}` comes from nowhere"
    label = "{hint}"
    help = "{way}"
    name: str
    source: str = ""

    def words(self) -> dict[str, str]:
        """The artifact, the mistake in its source, and the fix."""
        hint = "needs `from` or a location"
        way = (
            "add `from`, or a location such as `s3`; `fromExpression` works in the outputs of a template only"
        )
        if self.source:
            hint = f"`{self.source}` names no artifact"
            tag = TAG.search(self.source)
            meant = misspelt((self.source if tag is None else tag[1]).strip())
            way = f"write a tag such as `{{{{tasks.a.outputs.artifacts.{self.name}}}}}`"
            if isinstance(meant, LiteralTag) and meant.meant:
                way = f"write `{{{{{meant.meant}}}}}`"
        return super().words() | {"hint": hint, "way": way}


class TwoArtifactSources(Finding):
    """An artifact argument with two sources."""

    code = "FD537"
    title = "artifact `{name}` has both `from` and `fromExpression`"
    label = "only one of them is possible"
    help = "keep `from` or `fromExpression`"
    name: str


def values(view: View) -> Iterator[Problem]:
    """Every argument has one value, from a source that arguments may have, and one that its enum allows.

    A value of the workflow may be left out, to be given when the workflow is submitted; but a CronWorkflow
    submits its runs itself.
    """
    for call in (*view.outlines, *view.hooks):
        arguments = call.data.get("arguments")
        if arguments is None:
            continue
        for parameter in arguments.get("parameters") or ():
            if parameter.get("value") is None or "valueFrom" in parameter or "enum" in parameter:
                yield from _values(arguments, call.path)
                break
        if "artifacts" in arguments:
            yield from _artifacts(arguments, call.path)
        if call.callee is not None and call.callee.enums:
            yield from _in_enums(view, call, call.callee.enums)
    arguments = inside(view.spec, "arguments")
    yield from _artifacts(arguments, view.path)
    for problem in _values(arguments, view.path, () if view.kind == "CronWorkflow" else _BY_HAND):
        if not isinstance(problem.finding, NoValue) or view.kind == "CronWorkflow":
            yield problem


def _in_enums(view: View, call: Call, enums: Mapping[str, Sequence[str]]) -> Iterator[Problem]:
    """The findings about arguments of a call whose known values are not in the enums of its inputs."""
    for at, parameter in entries_at(call.data, call.path, "arguments", "parameters"):
        name = string(parameter, "name")
        if (choices := enums.get(name)) is None:
            continue
        place = (*at, "value")
        for path, value in handed(view, call, string(parameter, "value"), place):
            if _is_another(value, choices) and (value or path == place):
                yield Problem(path, NotInInputEnum(name, value, choices))


def _artifacts(arguments: Object, path: Path) -> Iterator[Problem]:
    """The findings about artifacts among arguments that have no source, or two."""
    for place, artifact in entries_at(arguments, (*path, "arguments"), "artifacts"):
        source: str = artifact.get("from") or ""
        if not source and not has_location(artifact):
            yield Problem(place, NoArtifactSource(artifact.get("name") or ""))
        elif source and not _names_something(source):
            yield Problem((*place, "from"), NoArtifactSource(artifact.get("name") or "", source))
        if artifact.get("from") and artifact.get("fromExpression"):
            yield Problem(place, TwoArtifactSources(artifact.get("name") or ""))


_ARTIFACTS = ("tasks.", "steps.", "inputs.artifacts.", "workflow.outputs.", "item", "{{")


def _names_something(source: str) -> bool:
    """Whether the text of a `from`, with or without braces, starts like the name of an artifact.

    An `item` may become such a name. Source: Argo Workflows, resolveArtifact in scope.go.
    """
    tag = TAG.search(source)
    return (source if tag is None else tag[1]).strip().startswith(_ARTIFACTS)


def handed_on(view: View) -> Iterator[Problem]:
    """The sources of the output artifacts of DAGs and step lists are artifacts."""
    for template in view.templates:
        for path, artifact in entries_at(template.data, template.path, "outputs", "artifacts"):
            source = string(artifact, "from")
            if template.body in GRAPH_BODIES and source and not _names_something(source):
                yield Problem((*path, "from"), NoArtifactSource(string(artifact, "name"), source))


_BY_HAND = ("supplied", "event")
"""Sources of values that are given when a run starts, which no call of a template has."""


def _values(arguments: Object, path: Path, more: tuple[str, ...] = ()) -> Iterator[Problem]:
    """The findings about parameters among arguments that have no value, or one from a wrong source or not in its enum.

    `more`: sources that they may have besides a ConfigMap, which supply the value later.
    """
    for here, parameter in entries_at(arguments, (*path, "arguments"), "parameters"):
        name = string(parameter, "name")
        source: Object | None = parameter.get("valueFrom")
        if parameter.get("value") is None and source is None:
            yield Problem(here, NoValue(name))
        if source is not None:
            wrong = [field for field in _FORBIDDEN if source.get(field)]
            right = [field for field in ("configMapKeyRef", *_BY_HAND) if source.get(field) is not None]
            if wrong or not right or not (more or has_value(parameter)):
                found = " and ".join(f"`{field}`" for field in wrong or source) or "without a source"
                listed = ", ".join(f"`{field}`" for field in ("configMapKeyRef", *more[:-1]))
                listed += f" or `{more[-1]}`" if more else ""
                yield Problem((*here, "valueFrom"), BadSource(name, found, listed))
        choices: list[str] = parameter.get("enum") or []
        if _is_another(value := parameter.get("value"), choices):
            yield Problem((*here, "value"), NotInEnum(name, value, choices))


def _is_another(value: object, choices: Sequence[str]) -> TypeGuard[str]:
    """Whether a value is a known text that is not among the choices, if there are any."""
    return bool(choices) and isinstance(value, str) and "{{" not in value and value not in choices


def defaults(view: View) -> Iterator[Problem]:
    """The values and defaults of template inputs are in their enums."""
    for template in view.templates:
        if not template.enums:
            continue
        for index, parameter in enumerate(template.data["inputs"]["parameters"]):
            choices = template.enums.get(parameter.get("name") or "", ())
            for field in ("value", "default"):
                value: str | None = parameter.get(field)
                if value == "" and template.body == "suspend":
                    continue  # no answer yet
                if _is_another(value, choices):
                    path = (*template.path, "inputs", "parameters", index, field)
                    yield Problem(path, NotInInputEnum(string(parameter, "name"), value, choices))
