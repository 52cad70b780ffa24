"""Stops allowed failures of a loop or call from failing the graph by way of tasks after it that do not run.

To Argo a graph is what its last tasks are, and a task that did not run is what the nodes before it are: those
of the rounds of a loop, a failed one among them, though the loop itself has succeeded. So where a last task
may not run, the graph around such rounds gets one more task, which always succeeds, has no pod, and is the
node before it. Source: assessDAGPhase and getOutboundNodes in workflow/controller of Argo 4.1.
"""

from __future__ import annotations

from graphlib import TopologicalSorter

from flowdsl.compiler import ir
from flowdsl.compiler.lowering.ends import hands_on
from flowdsl.compiler.lowering.plans import STATUS
from flowdsl.values.expr import Const, Op, Out, leaves

NONE: frozenset[str] = frozenset()


def borne(templates: list[ir.Template], end: str) -> list[ir.Template]:
    """The templates, with an end task in each graph whose failures would fail a graph that tolerates them.

    Of large graphs that are in groups, too: a task that waits for a group is after all its last tasks.
    `end` is the name of the template of these end tasks.
    """
    if not any(
        _bears(task) for one in templates if isinstance(one.body, ir.Graph) for task in one.body.tasks
    ):
        return templates
    reach = _Reach({one.name: one.body for one in templates if isinstance(one.body, ir.Graph)}, end)
    for one in reach.graphs:
        reach.after(one)
    if not reach.found:
        return templates
    made = [_ended(one, end) if one.name in reach.found else one for one in templates if one.name != end]
    last = next(one for one in templates if one.name in reach.found)
    graphs = [one for one in made if isinstance(one.body, ir.Graph)]
    pods = [one for one in made if not isinstance(one.body, ir.Graph)]
    return [*graphs, hands_on(end, (), last.place), *pods]


def _bears(task: ir.Task) -> bool:
    return task.may_fail or (task.loop is not None and task.loop.keep_going)


def _ended(template: ir.Template, end: str) -> ir.Template:
    body = template.body
    assert isinstance(body, ir.Graph)
    (task,) = body.tasks
    # A loop over a list that is only known at run time may have no items.
    empty = ("Skipped",) if task.loop is not None and task.loop.items is None else ()
    results = ("Succeeded", "Failed", "Errored", *empty)
    last = ir.Task(f"{task.name}-ended", end, (), task.place, ended=((task.name, results),))
    return template._replace(body=body._replace(tasks=(task, last)))


class _Reach:
    """Which tolerated failures reach a last task that may be skipped."""

    def __init__(self, graphs: dict[str, ir.Graph], end: str) -> None:
        self.graphs = graphs
        self.end = end
        self.found: set[str] = set()
        self._after: dict[str, frozenset[str]] = {}

    def after(self, name: str) -> frozenset[str]:
        """The graphs whose failures determine the last nodes of a template."""
        known = self._after.get(name)
        if known is not None:
            return known
        graph = self.graphs.get(name)
        if graph is None or any(task.template == self.end for task in graph.tasks):
            return NONE
        tasks = {task.name: task for task in graph.tasks}
        own: dict[str, frozenset[str]] = {}  # if it runs
        past: dict[str, frozenset[str]] = {}  # if it does not
        omitted: set[str] = set()
        waited: set[str] = set()
        before = {task.name: task.before for task in graph.tasks}
        # A group has the place of its first task, so it may be before what it waits for.
        for task in map(tasks.__getitem__, TopologicalSorter(before).static_order()):
            waited.update(task.before)
            if task.ended or any(one in omitted for one in task.after):
                omitted.add(task.name)
            own[task.name] = frozenset((name,)) if _bears(task) else self.after(task.template)
            past[task.name] = NONE
            if task.name in omitted or task.when is not None:
                past[task.name] = NONE.union(
                    *(
                        past[one] if self._both(tasks[one], task, omitted) else own[one] | past[one]
                        for one in task.before
                        if not self._only_if_failed(task, one)
                    )
                )
        last = [one for one in tasks if one not in waited]
        self.found.update(*(past[one] for one in last))
        found = self._after[name] = NONE.union(*(own[one] | past[one] for one in last))
        return found

    @staticmethod
    def _both(before: ir.Task, task: ir.Task, omitted: set[str]) -> bool:
        """Whether a task is skipped only if its predecessor is."""
        return task.name not in omitted and before.when == task.when

    @staticmethod
    def _only_if_failed(task: ir.Task, before: str) -> bool:
        """Whether a task is skipped only if its predecessor, which may fail, succeeded."""
        match task.when:
            case Op("not", (Op("==", (asked, Const("Succeeded"))),)):
                outputs = {(one.task, one.name) for one in leaves(asked) if isinstance(one, Out)}
                return outputs == {(before, STATUS)}
            case _:
                return False
