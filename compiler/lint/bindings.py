"""WorkflowEventBindings: the events that submit a run, the template that it runs, and its arguments.

Source: Argo Workflows, server/event/dispatch/operation.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.manifest.view import View
from flowdsl.compiler.lint.pods.findings import Incomplete
from flowdsl.compiler.lint.variables import reading
from flowdsl.compiler.lint.variables.arguments import NeverGiven, not_given
from flowdsl.compiler.lint.variables.findings import NeverThere
from flowdsl.compiler.lint.variables.typing import Extra
from flowdsl.compiler.lint.variables.uses import Spot
from flowdsl.compiler.lint.workflow.names import object_name
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import entries, entries_at, inside, string
from flowdsl.diagnostic import near

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.view import Library
    from flowdsl.compiler.lint.variables.typing import Use
    from flowdsl.compiler.tree import Object, Path

BINDING = "WorkflowEventBinding"
_NAMES = frozenset(("discriminator", "metadata", "namespace", "payload"))


def binding(document: Object, library: Library | None) -> Iterator[Problem]:
    """The mistakes that keep a binding from creating runs: invalid expressions and missing fields.

    `library` may have the template that the runs are created from.
    """
    yield from object_name(View(document))
    spec: Path = ("spec",)
    selector = string(document, "spec", "event", "selector")
    yield from _expression(selector, (*spec, "event", "selector"), "flag", functions=False)
    submit = inside(document, "spec").get("submit")
    if submit is None:
        return
    path = (*spec, "submit")
    if not string(submit, "workflowTemplateRef", "name"):
        way = "add the name of the WorkflowTemplate to run"
        yield Problem((*path, "workflowTemplateRef"), Incomplete("the reference", "`name`", way))
    for place, parameter in entries_at(submit, path, "arguments", "parameters"):
        text = string(parameter, "valueFrom", "event")
        if not text:
            way = "write `valueFrom: {event: ...}`; a constant needs quotes there, such as `'\"a\"'`"
            what = f"parameter `{parameter.get('name')}`"
            yield Problem(place, Incomplete(what, "`valueFrom.event`", way))
        yield from _expression(text, (*place, "valueFrom", "event"), "value", functions=False)
    yield from _given(submit, path, library)
    for field in ("name", "generateName"):
        text = string(submit, "metadata", field)
        yield from _expression(text, (*path, "metadata", field), "text", functions=True)
    for field in ("annotations", "labels"):
        for key, text in inside(submit, "metadata", field).items():
            yield from _expression(text, (*path, "metadata", field, key), "text", functions=True)


def _given(submit: Object, path: Path, library: Library | None) -> Iterator[Problem]:
    """The findings about parameters of the template without a value: a run has only the arguments of the binding."""
    spec = {field: submit[field] for field in ("workflowTemplateRef", "arguments") if submit.get(field)}
    run = View({"kind": "Workflow", "metadata": {"generateName": "run-"}, "spec": spec}, library=library)
    if run.base is None:
        return
    names = [string(each, "name") for each in entries(submit, "arguments", "parameters")]
    others = {name: index for index, name in enumerate(names) if name not in run.base.arguments}
    for name in sorted(not_given(run, run.base, computed=False)):
        meant = near(name, others) or ""
        place = ("arguments", "parameters", others[meant], "name") if meant else ("workflowTemplateRef",)
        base = string(submit, "workflowTemplateRef", "name")
        yield Problem((*path, *place), NeverGiven(name, base, meant))


def _expression(text: str, path: Path, use: Use, functions: bool) -> Iterator[Problem]:
    """The findings about an expression over an event; `functions`: whether it also has Argo's own functions."""
    if text:
        read = reading.expression(text, Extra(use, _NAMES, alone=True, argo=functions, filled=False))
        yield from (fault.at(path) for fault in read.found)
        for each in read.named:
            header = each.path[1] if each.path[0] == "metadata" and len(each.path) > 1 else "x-"
            if header != header.lower() or not header.startswith("x-"):
                way = "the headers of an event are those that begin with `x-`, in lower case"
                spot = Spot(path, (each.start, each.end), expression=True)
                yield spot.problem(NeverThere(each.dotted, (), way))
