"""Labels that `labelsFrom` computes, named as variables by what begins after the start of a run.

Source: updateWorkflowMetadata and setGlobalParameters in workflow/controller/operator.go of Argo Workflows: such a
label is a variable only while the run starts, and in what the tasks that start with it get.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.manifest.dag import inner_first
from flowdsl.compiler.lint.manifest.template import Template, callees
from flowdsl.compiler.lint.variables.texts import naming
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import inside, string
from flowdsl.diagnostic import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.template import Call
    from flowdsl.compiler.lint.manifest.view import View
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
    begun = [*_late_calls(view, lasting)]
    # The spec's own hooks get their arguments in the first pass.
    ends = callees(hook for hook in view.hooks if hook.title == "exit")
    ends += [] if view.last is None else [view.last]
    at_the_end = ends if view.first is not None and id(view.first) in lasting else []
    late = {id(each) for each in inner_first([*at_the_end, *callees(begun)], Template.called)}
    used: list[tuple[object, Path]] = [(call.data, call.path) for call in begun]
    for template in view.all:
        if id(template) not in late:
            continue
        used += [(call.data, call.path) for call in template.calls]
        used.append((template.data.get("outputs"), (*template.path, "outputs")))
        if not template.calls:
            used.append((template.data, template.path))
    found = {(path, part): name for data, start in used for name, path, part in naming(data, start, names)}
    for (path, part), name in found.items():
        yield Problem(path, Forgotten(name, names[name]), part=part)


def _lasting(view: View) -> set[int]:
    """The templates that surely do not end in the pass of the controller in which they begin."""
    found = set[int]()
    for template in inner_first(view.all, Template.called):
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


def _late_calls(view: View, lasting: set[int]) -> Iterator[Call]:
    """The calls that surely begin after another one has lasted.

    Of hooks, those at the end of what lasts: others may run in the first pass, as for a DAG that is `Running`.
    """
    for template in view.all:
        late = set[int]()
        first = min((call.group for call in template.calls if _lasts(call, lasting)), default=None)
        for call in template.calls:
            if template.body == "steps":
                is_late = first is not None and first < call.group
            else:
                is_late = any(id(each) in late or _lasts(each, lasting) for each in _needs(call))
            if is_late:
                late.add(id(call))
                yield call
        for hook in template.hooks:
            lasts = hook.parent is not None and _lasts(hook.parent, lasting)
            if id(hook.parent) in late or (lasts and hook.title == "exit"):
                yield hook


def _needs(call: Call) -> list[Call]:
    """The tasks of its DAG for which a task waits."""
    owner = call.owner
    if owner.body != "dag" or call.parent is not None or call.name not in owner.call_index:
        return []
    return [owner.calls[need] for need in owner.dag.needs[owner.call_index[call.name]]]
