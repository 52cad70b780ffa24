"""The indices of a loop's items: `numbers` of them, and those that `failed`."""

from __future__ import annotations

from typing import Any, cast

from flowdsl.loop import said
from flowdsl.places.place import Argument, here
from flowdsl.tracing.trace import Call, needed
from flowdsl.values import types as t
from flowdsl.values.expr import Const, Expr, Op, Poison, Rows
from flowdsl.values.value import expr_of, is_value, value

MOST = 500
"""Number of items above which Argo is slow in finding those that failed: it searches all of them for each."""

_FEW = 100_000


def numbers(end: int) -> list[int]:
    """The whole numbers from 0 up to `end`, which is not among them: a `range` of a length that a step finds.

    For `fan_out(work, over={"part": numbers(count)})`, and as an argument. Below 1 there are none.
    """
    trace = needed("numbers")
    site = here()
    if not is_value(end) and isinstance(cast("object", end), int):
        # No list is created for more: a Workflow has no room for as many tasks, which the loop reports.
        return list(range(end)) if end <= _FEW else cast("list[int]", range(end))
    expr = expr_of(end) if is_value(end) else Const(None, t.NONE)
    if isinstance(expr, Poison):
        return cast("list[int]", value(expr))
    if t.base(expr.type) != t.INT:
        have = t.spell(expr.type) if is_value(end) else said(end)
        trace.report("NotACount", Argument(site, "end", 0), (), have=have)
        return cast("list[int]", value(Poison()))
    return cast("list[int]", value(Op("numbers", (expr,), t.Sequence(t.INT))))


def failed(results: list[Any]) -> list[int]:
    """The numbers of the items that failed, from 0, of a `fan_out` with `keep_going` or of a sweep's `results`."""
    trace = needed("failed")
    place = Argument(here(), "results", 0)
    expr = expr_of(results) if is_value(results) else None
    if isinstance(expr, Poison):
        return cast("list[int]", value(expr))
    if not isinstance(expr, Rows) or not isinstance(expr.task, Call):
        trace.report("NotResults", place, (), have=said(results))
    elif expr.task.loop is not None and not expr.task.loop.keep_going:
        trace.report("NeverIncomplete", place, (), step=expr.task.target.name)
    elif expr.task.loop is not None and len(expr.task.loop.rows or ()) > MOST:
        trace.report("TooManyToName", place, (), items=len(expr.task.loop.rows or ()), most=MOST)
    else:
        return cast("list[int]", value(Op("failed", (expr, _items(expr.task)), t.Sequence(t.INT))))
    return cast("list[int]", value(Poison()))


def _items(call: Call) -> Expr:
    """The number of items of a loop: a number, or a list with as many elements."""
    loop = call.loop
    assert loop is not None
    if loop.rows is not None:
        return Const(len(loop.rows), t.INT)
    lists = tuple(loop.lists.values())
    return Op("combinations", lists, t.INT) if loop.product else next(iter(lists), Const(0, t.INT))
