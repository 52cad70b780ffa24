"""Values that are known only at the end of a run or task, used before it, and the other way round."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from flowdsl.compiler.checks.branches import uses
from flowdsl.compiler.findings import control as findings
from flowdsl.diagnostic import Diagnostic, Related
from flowdsl.pipeline import PipelineDef
from flowdsl.places.place import Argument
from flowdsl.run import AT_THE_END
from flowdsl.tracing.trace import Call, regions
from flowdsl.values.expr import Best, Either, Expr, Out, Rows, RunField, Status, children, leaves

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.places.place import Place
    from flowdsl.tracing.trace import Graph, Region, Trace


_FAILS = (
    "say `.options(may_fail=True)` of its call: else the run fails with it, and the other value is not taken"
)
_LOOP = "take the results of a loop outside of such a block: with `keep_going=True` they are there if items failed"


def ends(trace: Trace) -> Iterator[Diagnostic]:
    """Findings about the blocks for the end of a run or task, and about values that exist only there."""
    known = _at_the_end(trace)
    for graph in trace.graphs.values():
        if graph.around is not None and not graph.calls and not trace.failed and graph.site is not None:
            yield Diagnostic(findings.NothingAtTheEnd(), graph.site)
        for expr, region, place in uses(graph):
            for leaf in leaves(expr):
                if isinstance(leaf, RunField) and leaf.name in AT_THE_END and id(graph) not in known:
                    yield Diagnostic(findings.NotYetKnown(leaf.name), place)
                elif isinstance(leaf, Status):
                    yield from _status(leaf, region, place)
            yield from _failed(expr, region, place)
        yield from _around(graph)


def _at_the_end(trace: Trace) -> set[int]:
    """The graphs that run only after the run has ended."""
    if all(graph.around is None for graph in trace.graphs.values()):
        return set()
    during: set[int] = set()
    todo = [trace.root]
    while todo:
        graph = todo.pop()
        if id(graph) not in during:
            during.add(id(graph))
            called = [call.target for call in graph.calls]
            todo += [trace.graphs[id(one)] for one in called if isinstance(one, PipelineDef)]
    return {id(graph) for graph in trace.graphs.values()} - during


def _status(leaf: Status, region: Region | None, place: Place) -> Iterator[Diagnostic]:
    assert isinstance(leaf.task, Call)
    if not any(one.ended is leaf.task for one in regions(region)):
        yield Diagnostic(findings.NotEndedHere(leaf.task.target.name), place)


def _needed(expr: Expr) -> Iterator[object]:
    """The tasks whose results an expression requires; not those of choices that have an alternative."""
    if isinstance(expr, (Out, Rows, Best)):
        yield expr.task
    inside = children(expr)
    for child in inside[-1:] if isinstance(expr, Either) else inside:
        yield from _needed(child)


def _failed(expr: Expr, region: Region | None, place: Place) -> Iterator[Diagnostic]:
    """Results of a task that may fail, and of any task in a block that runs whatever its outcome."""
    for task in _needed(expr):
        if isinstance(task, Call) and task.may_fail:
            yield Diagnostic(findings.MayHaveFailed(task.target.name), place)
            return
    for one in regions(region):
        if one.ended is not None and any(task is one.ended for task in _needed(expr)):
            yield _ended(one.ended, one, place)
    stands_in = next(_stands_in(expr), None)
    if stands_in is not None and all(one.ended is not stands_in.ended for one in regions(region)):
        assert stands_in.ended is not None
        related = (Related(stands_in.site, "runs when it has ended"),)
        yield Diagnostic(findings.MayHaveFailed(stands_in.ended.target.name, _FAILS), place, related)


def _around(graph: Graph) -> Iterator[Diagnostic]:
    """Conditions that take the result of a task, around a block that runs whatever its outcome."""
    nested = dict.fromkeys(pair for call in graph.calls for pair in combinations(regions(call.region), 2))
    for block, outer in nested:
        if block.ended is None or outer.ended is not None:
            continue
        if any(task is block.ended for task in _needed(outer.condition)):
            yield _ended(block.ended, block, Argument(outer.site, "condition", 0))


def _ended(task: Call, block: Region, place: Place) -> Diagnostic:
    name, related = task.target.name, (Related(block.site, "runs when it has ended"),)
    finding = findings.MayHaveFailed(name) if task.loop is None else findings.MayHaveFailed(name, _LOOP)
    return Diagnostic(finding, place, related)


def _stands_in(expr: Expr) -> Iterator[Region]:
    """The blocks for the end of a task that may not fail, whose values are to replace results of that task."""
    if isinstance(expr, Either):
        before = [leaf.task for leaf in leaves(expr.choices[0]) if isinstance(leaf, (Out, Rows, Best))]
        for leaf in (leaf for choice in expr.choices[1:] for leaf in leaves(choice)):
            if isinstance(leaf, (Out, Rows, Best)) and isinstance(leaf.task, Call):
                for one in regions(leaf.task.region):
                    if one.ended is not None and not one.ended.may_fail and one.ended in before:
                        yield one
    for child in children(expr):
        yield from _stands_in(child)
