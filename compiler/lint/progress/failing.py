"""What is to begin behind a failure in a graph that fails fast."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.kinds import GRAPH_BODIES
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import inside
from flowdsl.diagnostic import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.view import Call, View


class InSpite(Finding):
    """A task that may fail in a graph with `failFast`, which lets nothing begin behind it all the same."""

    code = "FD877"
    severity = "warning"
    title = "nothing begins behind `{task}` when it has failed, whatever `{field}` says"
    label = "`failFast` of the template `{graph}` lets nothing begin when something has failed"
    help = "take `failFast` out of the template `{graph}`"
    task: str
    field: str
    graph: str


def in_spite(view: View) -> Iterator[Problem]:
    """Nothing is to begin behind a failure where `failFast` of the template lets nothing begin.

    Source: checkParallelism and getUnsuccessfulChildrenCounter in workflow/controller of Argo 4.1, which look at pods,
    lists of steps and DAGs that have failed, whatever the graph says of them.
    """
    for template in view.templates:
        if template.data.get("failFast") is not True or template.body not in GRAPH_BODIES:
            continue
        for call in template.calls:
            awaited = call.is_awaited if template.body == "dag" else call.group < template.calls[-1].group
            if awaited and _counts(call) and True in inside(call.data, "continueOn").values():
                path = (*call.path, "continueOn")
                yield Problem(path, InSpite(call.name, "continueOn", template.title), on_key=True)
        dag = template.dag
        for position, operand in dag.results:
            needed = dag.index.get(operand.task)
            if operand.result in _FAILURES and needed is not None and _counts(template.calls[needed]):
                path, part = (*template.calls[position].path, "depends"), (operand.start, operand.end)
                yield Problem(path, InSpite(operand.task, "depends", template.title), part=part)


_FAILURES = frozenset(("AllFailed", "Errored", "Failed"))


def _counts(call: Call) -> bool:
    """Whether `failFast` takes notice of a failure of what is called."""
    return call.callee is not None and (call.callee.is_pod or call.callee.body in GRAPH_BODIES)
