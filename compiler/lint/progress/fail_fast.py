"""Tasks that are to run after a failure in a DAG that fails fast."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.kinds import GRAPH_BODIES
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import inside, string
from flowdsl.diagnostic import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.template import Call, Template
    from flowdsl.compiler.lint.manifest.view import View


class InSpite(Finding):
    """A task that may fail in a graph with `failFast`, after which nothing begins anyway."""

    code = "FD877"
    severity = "warning"
    title = "nothing begins after `{task}` has failed, whatever `{field}` says"
    label = "`failFast` of the template `{graph}` lets nothing begin once something has failed"
    help = "remove `failFast` from the template `{graph}`"
    task: str
    field: str
    graph: str


class NeverReached(Finding):
    """A graph with `failFast` of its template, after which the DAG around it looks for a task in vain."""

    code = "FD887"
    severity = "warning"
    title = "{effect} if `{task}` fails: Argo does not find `{waiting}` after it then"
    label = "`failFast` of the template `{graph}` ends it without its outbound nodes"
    help = "remove `failFast` from the template `{graph}`: {way}"
    effect: str
    task: str
    waiting: str
    graph: str
    way: str


def in_spite(view: View) -> Iterator[Problem]:
    """No task follows a failure if `failFast` of the template lets nothing start after one.

    Source: checkParallelism and getUnsuccessfulChildrenCounter in workflow/controller of Argo 4.1, which count failed
    pods, steps and DAGs, whatever the graph says of them.
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


def behind(view: View) -> Iterator[Problem]:
    """A DAG reaches the tasks after a nested graph, also if that has failed.

    It follows the outbound nodes of completed nodes, and `failFast` of a template ends a graph before it has any;
    with retries it has them. The DAG waits for an end that it does not reach; one that it reaches by another path
    counts as not failed. Source: checkParallelism, connectDependencies and assessDAGPhase in workflow/controller of
    Argo 4.1, and a real controller.
    """
    for template in view.templates:
        if template.body != "dag" or string(template.data, "dag", "target") or not template.dag.is_sound:
            continue
        for position, call in enumerate(template.calls):
            graph = call.callee
            if graph is None or graph.data.get("failFast") is not True or not call.is_awaited or call.loop:
                continue
            if view.tries(graph) or not any(map(_counts, graph.calls)):
                continue
            effect, lost = "the run never ends", _lost(template, position)
            asked = any(operand.task == call.name for _, operand in template.dag.results)
            if lost is None and not asked and "continueOn" not in call.data:
                users = (index for index, needs in enumerate(template.dag.needs) if position in needs)
                effect, lost = "the run may succeed even", template.calls[next(users)]
            if lost is not None:
                way = "a DAG fails fast anyway" if graph.body == "dag" else "steps end with a failure anyway"
                finding = NeverReached(effect, call.name, lost.name, graph.title, way)
                yield Problem(call.path, finding, on_key=True)


def _lost(template: Template, failed: int) -> Call | None:
    """The first leaf task of a DAG that is reached only through the failed task."""
    needs = template.dag.needs
    reached: set[int] = set()
    for position in template.dag.sorted(reverse=False):
        if not needs[position] or any(one in reached and one != failed for one in needs[position]):
            reached.add(position)
    ends = (position for position, call in enumerate(template.calls) if not call.is_awaited)
    return next((template.calls[position] for position in ends if position not in reached), None)


_FAILURES = frozenset(("AllFailed", "Errored", "Failed"))


def _counts(call: Call) -> bool:
    """Whether `failFast` counts a failure of the called template."""
    return call.callee is not None and (call.callee.is_pod or call.callee.body in GRAPH_BODIES)
