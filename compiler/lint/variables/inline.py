"""Variables in inline templates, which Argo resolves where the call stands."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from flowdsl.compiler.kinds import BODY_OF, PROGRAM_BODIES
from flowdsl.compiler.lint.manifest.template import RESULTS
from flowdsl.compiler.lint.variables.findings import UnknownVariable
from flowdsl.compiler.lint.variables.texts import strings
from flowdsl.compiler.lint.variables.uses import Spot, producer_of
from flowdsl.compiler.lint.workflow.constant_conditions import holds
from flowdsl.compiler.lint.workflow.loops import has_no_items, is_looked_for, written_items
from flowdsl.compiler.tree import entries, is_mapping, string
from flowdsl.diagnostic import Finding
from flowdsl.grammar.template import tags

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.template import Call, Template
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.problem import Part, Problem
    from flowdsl.compiler.tree import Path
    from flowdsl.grammar.template import Reference, Tag


class Overwritten(Finding):
    """An input of an inline template with the name of one around it, which Argo uses instead."""

    code = "FD852"
    severity = "warning"
    title = "`{name}` is the input of `{around}` here, not the one that `{call}` is given"
    label = "replaced before `{call}` is called"
    help = "give the input of one of the two another name"
    name: str
    around: str
    call: str


def inner_variables(view: View) -> Iterator[Problem]:
    """A tag of an inline template names a variable of that template, and Argo looks for it before it is called.

    Source: Argo Workflows, validateSteps and validateDAG, which resolve a whole call in the scope of its
    template, and validateTemplate, which resolves an inline template by itself, without the arguments of its
    call: only the first one of a workflow, because it takes other unnamed ones for the same. From an object
    that it refers to, a run has the templates as they are written, without the inputs of the templates around
    them. At run time, resolveReferences and resolveDependencyReferences wait for all tasks and steps that the
    text of a call names, and processItem requires all that the text of a loop names.
    """
    inner = [(template, template.around) for template in view.templates if template.around is not None]
    first = _first(view) if inner else None
    told: set[tuple[Path, Part]] = set()
    for template, call in inner:
        around = _Around(template, [*_outwards(call)])
        for path, text in strings(template.data, template.path):
            given = path[len(template.path)] == "inputs"
            for tag in tags(text):
                for name, spot in _named(path, tag):
                    if around.lacks(name, spot):
                        way = NAMED
                    elif tag.kind != "simple" or template.path != first or given:
                        continue
                    elif _is_outer(view, name, template, call.owner):
                        way = _ARGUMENT
                    else:
                        continue
                    if (path, spot.part) not in told:
                        told.add((path, spot.part))
                        yield spot.problem(UnknownVariable(name, (), way))


def _named(path: Path, tag: Tag) -> Iterator[tuple[str, Spot]]:
    """The variables that a tag of the text at a path names, each with its location."""
    if tag.kind == "simple" and (name := tag.body.strip()):
        yield name, Spot.of_name(path, name, tag)
    elif tag.kind == "expression":
        for each in tag.variables:
            # A result that Argo does not store, because it finds no use of it, is reported elsewhere.
            if each.path[2:] != ("outputs", "result") or _is_found(each, tag.body):
                yield each.dotted, Spot(path, (each.start, each.end), expression=True)


def _is_found(result: Reference, expression: str) -> bool:
    """Whether Argo finds the use of a result in an expression."""
    found = RESULTS[BODY_OF[result.path[0]]].finditer(expression) if result.path[0] in BODY_OF else ()
    return any(result.path[1] in each.groups() for each in found)


def _outwards(call: Call) -> Iterator[Call]:
    """A call of an inline template, and those of the inline templates around it, from the inside out."""
    around: Call | None = call
    while around is not None:
        yield around
        around = around.owner.around


class _Around:
    """The calls around an inline template, from the inside out, and what is unknown there."""

    def __init__(self, template: Template, calls: list[Call]) -> None:
        self.template = template
        self.calls = calls
        self.loops = [call for call in calls if _is_filled(call)]
        self.by_path = {each.path: each for each in template.calls if each.loop}

    def lacks(self, name: str, spot: Spot) -> bool:
        """Whether a variable is one of the template's own, or of its calls, and missing where Argo requires it."""
        template, root = self.template, name.partition(".")[0]
        if name == "tasks.name":
            return True
        if root in BODY_OF:
            nearest = self.calls if spot.expression else self.calls[:1]
            return any(_is_inner(name, template, call.owner) for call in nearest)
        if root == "item":
            return "." in name and self.lacks_key(name.partition(".")[2], spot)
        if not spot.expression and _is_inner(name, template, self.calls[0].owner):
            return True
        if any(_is_inner(name, template, call.owner) or self.is_own(name, call) for call in self.loops):
            return True
        return not spot.expression and self.is_too_deep(name)

    def is_own(self, name: str, loop: Call) -> bool:
        """Whether a variable is an input or retry variable of the template that a loop around it does not have."""
        if name == "retries" or name.startswith("lastRetry."):
            return "retryStrategy" in self.template.data
        parameter = name.removeprefix("inputs.parameters.")
        return (
            parameter != name
            and parameter in self.template.parameters
            and parameter not in loop.owner.parameters
        )

    def is_too_deep(self, name: str) -> bool:
        """Whether a variable is an input of the template that an outer call does not have."""
        parameter = name.removeprefix("inputs.parameters.")
        if parameter == name or parameter not in self.template.parameters:
            return False
        return any(
            parameter not in near.owner.parameters and parameter not in far.owner.parameters
            for near, far in pairwise(self.calls)
        )

    def lacks_key(self, key: str, spot: Spot) -> bool:
        """Whether a text belongs to a loop within the template, and a call around has no items with such a key."""
        if spot.path[: len(self.template.path) + _STEPS] not in self.by_path:
            return False
        seeking = self.loops if spot.expression else self.calls
        return any(not _may_have(call, key) for call in seeking)


_STEPS = 3
"""The length of the path from a template to a call in it."""


def _is_filled(call: Call) -> bool:
    """Whether the text of a loop is expanded. Findings about a whole loop have the same fix."""
    if not call.loop or has_no_items(call) or is_looked_for(call):
        return False
    when = string(call.data, "when")
    return "{{" in when or holds(when)


def _may_have(call: Call, key: str) -> bool:
    """Whether the items of a call may have a key."""
    if call.loop == "withParam":
        return True
    items = written_items(call.data)[1] if call.loop == "withItems" else []
    return any(is_mapping(item) and key in item for item in items)


def overwritten(view: View) -> Iterator[Problem]:
    """The inputs of an inline template do not share names with outer ones, unless they have the same value.

    Source: Argo Workflows, ProcessArgs, which replaces the inputs of a template in all that it contains.
    """
    for template in view.all:
        call = template.around
        while call is not None:
            outer = call.owner
            own = template.parameters.keys() & outer.parameters
            names = {f"inputs.parameters.{name}" for name in own if not _handed_on(template.around, name)}
            for path, text in strings(template.data, template.path) if names else ():
                below = path[len(template.path) :]
                if below[0] == "inputs" or "inline" in below:
                    continue
                for tag in tags(text):
                    read = tag.body.strip().lstrip("=").strip()
                    if read in names and template.around is not None:
                        spot = Spot.of_name(path, read, tag)
                        yield spot.problem(Overwritten(read, outer.title, template.around.title))
            call = outer.around


def _handed_on(call: Call | None, name: str) -> bool:
    """Whether a call passes an input on under the same name."""
    given = () if call is None else entries(call.data, "arguments", "parameters")
    value = next((each.get("value") for each in given if each.get("name") == name), None)
    return isinstance(value, str) and value.strip("{}= ") == f"inputs.parameters.{name}"


NAMED = "give the template a name among `templates`, and call it: its own names are not known here"
_ARGUMENT = "pass it on in the `arguments` of the call, to an input of the template"


def is_unkept(graph: Template | None, root: str, name: str) -> bool:
    """Whether a call is in an inline DAG or step list, which Argo does not find again to store the call's result.

    Source: Argo Workflows, GetTemplateByBoundaryID in workflow/controller/workflowpod.go.
    """
    call = producer_of(graph, root, name) if graph is not None and graph.around is not None else None
    callee = call.callee if call is not None else None
    return callee is not None and callee.body in PROGRAM_BODIES


def _first(view: View) -> Path | None:
    """The path of the inline template that Argo's validator visits first."""
    listed = [template for template in view.all if template.around is None]
    entry = view.named.get(string(view.spec, "entrypoint"))
    seen: set[Path] = set()
    todo = [*reversed(listed), *([] if entry is None else [entry])]
    while todo:
        template = todo.pop()
        if template.around is not None:
            return template.path
        if template.path not in seen:
            seen.add(template.path)
            order = template.dag.order if template.body == "dag" else range(len(template.calls))
            todo += [callee for at in reversed(order) if (callee := template.calls[at].callee) is not None]
    return None


def _is_inner(name: str, template: Template, caller: Template) -> bool:
    """Whether a template has a variable that the template of its caller does not have."""
    root, _, rest = name.partition(".")
    first, _, last = rest.partition(".")
    if root in BODY_OF:
        own = template.body == BODY_OF[root] and first in template.call_index
        return own and not _has(caller, root, first)
    if root == "inputs" and first == "artifacts":
        artifact = last.removesuffix(".path")
        return artifact in template.artifacts and (last != artifact or artifact not in caller.artifacts)
    return name == "pod.name" and template.is_pod


def _is_outer(view: View, name: str, template: Template, caller: Template) -> bool:
    """Whether a variable belongs to the caller of an inline template, or is its task's name: Argo would wait for it."""
    root, _, rest = name.partition(".")
    sort, _, last = rest.partition(".")
    if root == "inputs" and sort == "parameters" and not view.runs:
        return last in caller.parameters and last not in template.parameters
    if root not in BODY_OF or template.body == BODY_OF[root]:
        return False
    return _has(caller, root, rest.partition(".")[0])


def _has(template: Template, root: str, call: str) -> bool:
    """Whether a template is a DAG or step list with a task or step of that name."""
    return template.body == BODY_OF[root] and call in template.call_index
