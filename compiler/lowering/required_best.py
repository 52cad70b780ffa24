"""Sweeps whose best trial no task is certain to use: adds a task that fails the run where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.values.expr import Best, Either, Expr, Op, children

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lowering.plans import CallPlan, GraphPlan


def unjudged(graph: GraphPlan) -> Iterator[CallPlan]:
    """The sweeps of a graph that may find no best, without anybody noticing."""
    taken = {(name, id(region)) for name, region in _taken(graph)}
    for plan in graph.calls:
        loop = plan.call.loop
        if loop is None or loop.objective is None or plan.call.may_fail or plan.picked:
            continue
        if (plan.name, id(plan.call.region)) not in taken:
            yield plan


def _taken(graph: GraphPlan) -> Iterator[tuple[object, object]]:
    """The sweeps whose best is computed whenever the tasks of a region run, with that region."""
    for plan in graph.calls:
        for carried in plan.arguments.values():
            for value in carried.values:
                yield from ((name, plan.call.region) for name in _computed(value))
        if plan.condition is not None:
            yield from ((name, None) for name in _computed(plan.condition))
    for carried in graph.results.values():
        for value in carried.values:
            yield from ((name, None) for name in _computed(value))


def _computed(expr: Expr) -> Iterator[object]:
    """The sweeps whose best an expression computes in any case."""
    match expr:
        case Best(task):
            yield task
        case Either((first, *_)) | Op("?:" | "&" | "|", (first, *_)):
            yield from _computed(first)
        case _:
            for child in children(expr):
                yield from _computed(child)
