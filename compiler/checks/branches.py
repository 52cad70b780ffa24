"""Values used where they may not exist: outside their branch, in another pipeline, inside other values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.findings import control as findings
from flowdsl.compiler.findings.branches import BranchEscape, EitherAlways, ForeignValue
from flowdsl.compiler.findings.loops import RowsInside
from flowdsl.diagnostic import Diagnostic, Related
from flowdsl.places.place import Argument, Definition, Place
from flowdsl.tracing.trace import Call, regions
from flowdsl.values import types as t
from flowdsl.values.expr import (
    Best,
    Const,
    Either,
    Expr,
    Get,
    Many,
    Op,
    Out,
    Param,
    Rows,
    Status,
    children,
    leaves,
    negate,
)
from flowdsl.values.value import part_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.diagnostic import Finding
    from flowdsl.places.source import Sources
    from flowdsl.tracing.trace import Graph, Region, Trace

Use = tuple[Expr, "Region | None", Place]


def values(graph: Graph, sources: Sources) -> Iterator[Diagnostic]:
    """Findings about every expression of a graph, each at the place where it is used."""
    for expr, region, place in uses(graph):
        yield from _escapes(expr, region, place)
        if _always_first(expr):
            yield Diagnostic(EitherAlways(), place)
        foreign = next((leaf for leaf in leaves(expr) if _foreign(leaf, graph)), None)
        if foreign is not None:
            yield Diagnostic(_of_the_end(foreign, graph) or ForeignValue(), place)


def rows_inside(trace: Trace) -> Iterator[Diagnostic]:
    """Results of a loop, or of a pipeline that returns them, as a part of another value."""

    def is_rows(expr: Expr) -> bool:
        seen: set[int] = set()  # recursion of pipelines is reported elsewhere
        while isinstance(expr, Out) and isinstance(expr.task, Call):
            inside = trace.graphs.get(id(expr.task.target))
            if inside is None or inside.result is None or id(inside) in seen:
                return False
            seen.add(id(inside))
            result = inside.result
            if isinstance(result, Many) and isinstance(result.type, (t.Record, t.Fixed)):
                keys = {out.name: out.keys for out in t.outputs(result.type)}
                result = part_of(result, keys[expr.name]) if expr.name in keys else result
            expr = result
        return isinstance(expr, Rows)

    def holds_rows(expr: Expr, listed: bool = False) -> bool:
        """Whether a value contains the results of a loop; `listed`: they may be parts of it."""
        if (isinstance(expr, Get) and _indexed(expr)) or (isinstance(expr, Op) and expr.op == "failed"):
            return False
        if listed and isinstance(expr, Many):
            return any(not is_rows(item) and holds_rows(item, True) for item in expr.items)
        return isinstance(expr, Rows) or any(
            holds_rows(child) or (_together(expr) and is_rows(child)) for child in children(expr)
        )

    for graph in trace.graphs.values():
        given = {id(expr) for call in graph.calls for expr in call.arguments.values()}
        for expr, _, place in uses(graph):
            if not is_rows(expr) and holds_rows(expr, id(expr) in given):
                yield Diagnostic(RowsInside(), place)
        for call in graph.calls:
            items = call.loop.computed if call.loop is not None and call.loop.rows is not None else ()
            for name in {name: None for name, expr in items if is_rows(expr)}:
                place = call.argument(name)
                yield Diagnostic(RowsInside(), place)


def uses(graph: Graph) -> list[Use]:
    """Every expression that could be wrong, with its region and place."""
    if graph.uses is None:
        graph.uses = list(_uses(graph))
    return graph.uses


def _uses(graph: Graph) -> Iterator[Use]:
    regions: dict[int, Region] = {}
    for call in graph.calls:
        for name, expr in call.arguments.items():
            if type(expr) is not Const and not _harmless(expr, call, graph):
                yield expr, call.region, call.argument(name)
        if call.loop is not None:
            for name, expr in call.loop.computed:
                if not _harmless(expr, call, graph):
                    yield expr, call.region, call.argument(name)
        region = call.region
        while region is not None and id(region) not in regions:
            regions[id(region)] = region
            region = region.parent
    asked = {id(region.condition) for region in regions.values()}
    for region in regions.values():
        condition = region.condition
        if isinstance(condition, Op) and condition.op == "not" and id(condition.args[0]) in asked:
            continue  # `otherwise` has the condition of its `when`
        yield condition, region.parent, Argument(region.site, "condition", 0)
    yield from ((expr, None, place) for expr, place in results(graph))


def results(graph: Graph) -> Iterator[tuple[Expr, Place]]:
    """The outputs of a pipeline, each where it is returned."""
    result = graph.result
    if isinstance(result, Many) and isinstance(result.type, (t.Record, t.Fixed)):
        for (key, _), item in zip(t.keyed(result.type), result.items, strict=True):
            yield item, Definition(graph.owner.code, "return", f"item:{key}")
    elif result is not None:
        yield result, Definition(graph.owner.code, "return", "value")


def _harmless(expr: Expr, call: Call, graph: Graph) -> bool:
    """Whether a value is always valid: a constant, or the output of a task of this graph that always runs."""
    if type(expr) is Out and isinstance(expr.task, Call):
        task = expr.task
        sure = task.region is None and task.graph is graph and not task.may_fail
        return sure and (call.region is None or all(one.ended is not task for one in regions(call.region)))
    return False


def _escapes(expr: Expr, region: Region | None, place: Place) -> Iterator[Diagnostic]:
    """Values of a branch that are used outside of it without `either`."""
    for maker, made in _certain(expr):
        if made is not None and not _within(region, made):
            related = (Related(made.site, "made under this condition"),)
            yield Diagnostic(BranchEscape(maker.target.name), place, related)


def _always_first(expr: Expr) -> bool:
    """Whether the first value of a choice needs no task, so that the others are never used."""
    made = expr.choices[:-1] if isinstance(expr, Either) else ()
    plain = (Const, Param)  # values that visibly always exist
    return any(not isinstance(one, plain) and _without_tasks(one) for one in made) or any(
        _always_first(child) for child in children(expr)
    )


def _without_tasks(expr: Expr) -> bool:
    """Whether a value exists in every run, whichever tasks and branches run."""
    if isinstance(expr.type, t.Maybe) or isinstance(expr, (Out, Rows, Best, Status)):
        return False
    return all(
        _without_tasks(one) for one in (expr.choices[-1:] if isinstance(expr, Either) else children(expr))
    )


def _foreign(leaf: Expr, graph: Graph) -> bool:
    """Whether a value belongs to the body of another pipeline."""
    if isinstance(leaf, (Out, Rows, Best, Status)) and isinstance(leaf.task, Call):
        return leaf.task.graph is not graph
    return isinstance(leaf, Param) and leaf is not graph.inputs.get(leaf.name)


def _of_the_end(leaf: Expr, graph: Graph) -> Finding | None:
    """The finding about a value of a run that is used at its end, or one of its end that is used in it."""
    if not isinstance(leaf, (Out, Rows, Best, Status)) or not isinstance(leaf.task, Call):
        return None
    if leaf.task.graph is graph.around:
        return findings.OutputAtTheEnd(leaf.task.target.name)
    return findings.MadeAtTheEnd(leaf.task.target.name) if leaf.task.graph.around is graph else None


def _certain(expr: Expr, given: frozenset[int] = frozenset()) -> Iterator[tuple[Call, Region | None]]:
    """The calls that an expression requires, without the first of two choices, and the required region of each.

    `given` are the ids of conditions that hold where the expression is computed.
    """
    choices: tuple[Expr, ...] = ()
    if isinstance(expr, Either):
        choices = expr.choices
        while isinstance(choices[0], Either):
            choices = (*choices[0].choices, *choices[1:])
    elif isinstance(expr, Op) and expr.op == "?:":
        asked, choices = expr.args[0], expr.args[1:]
        yield from _certain(asked, given)
    elif isinstance(expr, Op) and expr.op == "&":
        for one in expr.args:  # the second is evaluated only if the first one holds
            yield from _certain(one, given)
            given = given.union(_conditions(one))
        return
    if choices:
        last = choices[-1]
        # The last choice may come from the branch that ran, if those of the others did not.
        makers = [set(_certain(choice, given)) for choice in choices[:-1]]
        others = [made for several in makers for _, made in several if made is not None]
        for maker, made in _certain(last, given):
            escaped = next((one for one in regions(made) if not _covered(one, makers)), None)
            if not isinstance(last, (Out, Best, Rows)) or any(_within(made, one) for one in others):
                yield maker, escaped
        return
    if isinstance(expr, (Out, Rows, Best)):
        if isinstance(expr.task, Call):
            around = regions(expr.task.region)
            yield expr.task, next((one for one in around if id(one.condition) not in given), None)
        return
    for child in children(expr):
        yield from _certain(child, given)


def _covered(region: Region, others: list[set[tuple[Call, Region | None]]]) -> bool:
    """Whether one of the other values exists whenever a branch does not run, as with `otherwise` and `on_failure`."""
    if region.ended is not None:
        task = region.ended
        sure = task.region is None or _within(region.parent, task.region)
        return sure and any({maker for maker, _ in several} == {task} for several in others)
    alone = [made for several in others if len({made for _, made in several}) == 1 for _, made in several]
    return any(
        one is not None
        and one.parent is region.parent
        and one.ended is None
        and negate(one.condition) == region.condition
        for one in alone
    )


def _conditions(expr: Expr) -> Iterator[int]:
    """The ids of the conditions that a condition implies."""
    yield id(expr)
    for part in expr.args if isinstance(expr, Op) and expr.op == "&" else ():
        yield from _conditions(part)


def _within(region: Region | None, outer: Region) -> bool:
    return any(one is outer for one in regions(region))


def _together(expr: Expr) -> bool:
    """Whether the parts of an expression have one type; those of records and tuples keep their own."""
    return isinstance(expr, Either) or (
        isinstance(expr, Many) and not isinstance(expr.type, (t.Record, t.Fixed))
    )


def _indexed(expr: Get) -> bool:
    """Whether an expression takes one output of one row."""
    of = expr.of
    if isinstance(of, Get):
        return isinstance(of.of, Rows) and isinstance(of.key, int) and isinstance(expr.key, str)
    whole = isinstance(expr.type, (t.Record, t.Fixed))
    return isinstance(of, Rows) and not whole
