"""Labels that `labelsFrom` computes, named as variables by what begins after the start of a run.

Source: updateWorkflowMetadata and setGlobalParameters in workflow/controller/operator.go of Argo Workflows: such a
label is a variable only while the run starts, and in what the tasks that start with it get.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.manifest.dag import inner_first
from flowdsl.compiler.lint.manifest.view import callees
from flowdsl.compiler.lint.variables.texts import strings
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import inside, string
from flowdsl.diagnostic import Finding
from flowdsl.grammar.template import tags

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.view import Call, Template, View
    from flowdsl.compiler.tree import Path


class Forgotten(Finding):
    """A label that `labelsFrom` computes, as a variable where Argo has forgotten it."""

    code = "FD888"
    title = "`{name}` is known at the start of a run only, as `labelsFrom` computes it"
    label = "this begins later: the tag stays as it is, or the run fails"
    help = "write what computes it: `{{{{={expression}}}}}`"
    name: str
    expression: str


def forgotten(view: View) -> Iterator[Problem]:
    """Labels of `labelsFrom` are no variables of what begins late."""
    computed = inside(view.spec, "workflowMetadata", "labelsFrom")
    names = {f"workflow.labels.{key}": string(computed, key, "expression") for key in computed}
    if not names:
        return
    lasting = _lasting(view)
    ends = [] if view.last is None else [view.last]
    begun = [*(call for call in view.calls if _is_late(call, lasting)), *view.hooks]
    late = {id(each) for each in inner_first([*ends, *callees(begun)], _calls)}
    used: list[tuple[object, Path]] = [(call.data, call.path) for call in begun]
    for template in view.all:
        if id(template) not in late:
            continue
        used += [(call.data, call.path) for call in template.calls]
        used.append((template.data.get("outputs"), (*template.path, "outputs")))
        if not template.calls:
            used.append((template.data, template.path))
    told: set[tuple[Path, int]] = set()
    for data, start in used:
        for path, _, text in strings(data, start):
            for tag in tags(text) if "{{" in text else ():
                if (path, tag.start) not in told and (
                    name := next(filter(names.__contains__, tag.names), "")
                ):
                    told.add((path, tag.start))
                    yield Problem(path, Forgotten(name, names[name]), part=(tag.start, tag.end))


def _lasting(view: View) -> set[int]:
    """The templates that surely do not end in the pass of the controller in which they begin."""
    found = set[int]()
    for template in inner_first(view.all, _calls):
        first = (call for call in template.calls if not (call.group or _needs(call)))
        if template.is_pod:
            if "memoize" not in template.data:
                found.add(id(template))
        elif any(_lasts(call, found) for call in first):
            found.add(id(template))
    return found


def _lasts(call: Call, lasting: set[int]) -> bool:
    """Whether a call surely lasts: it is not skipped, and has rounds if it is a loop."""
    return id(call.callee) in lasting and "when" not in call.data and not call.loop


def _is_late(call: Call, lasting: set[int]) -> bool:
    """Whether a call begins after another has lasted, or is a hook."""
    if call.parent is not None:
        return True
    return any(_lasts(each, lasting) for each in _needs(call)) or any(
        each.group < call.group and _lasts(each, lasting) for each in call.owner.calls if call.group
    )


def _needs(call: Call) -> list[Call]:
    """The tasks of its DAG for which a task waits."""
    owner = call.owner
    if owner.body != "dag" or call.parent is not None or call.name not in owner.call_index:
        return []
    return [owner.calls[need] for need in owner.dag.needs[owner.call_index[call.name]]]


def _calls(template: Template) -> list[Template]:
    return callees(template.calls)
