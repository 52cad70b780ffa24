"""Operators on run-time values: the types that they accept, and what Argo can compute."""

from __future__ import annotations

import math

from flowdsl.tracing.trace import complain
from flowdsl.values import types as t
from flowdsl.values.expr import (
    COMPARISONS,
    MOST_NESTED,
    MOST_PARTS,
    Const,
    Either,
    Expr,
    Op,
    Poison,
    nested,
    size,
)
from flowdsl.values.joined import flaw_of, join
from flowdsl.values.textual import Textual


def operate(operator: str, left: Expr, right: Expr) -> Expr | None:
    """An expression with two operands; poison after a reported mistake; None if their types do not fit."""
    if (
        isinstance(left, Poison)
        or isinstance(right, Poison)
        or _unfit(operator, left)
        or _unfit(operator, right)
    ):
        return Poison()
    make = _arithmetic if operator in "+-*/" else _logic if operator in "&|" else _comparison
    made = make(operator, left, right)
    return None if made is None else written(made)


def written(made: Expr) -> Expr:
    """The expression; poison, which is reported, for one that is too large or too nested to be written."""
    if nested(made) > MOST_NESTED:
        what = f"an operation on what {MOST_NESTED} others gave, one after the other,"
    elif size(made) > MOST_PARTS:
        what = f"an operation on what more than {MOST_PARTS} values and operations gave"
    else:
        return made
    complain("UnsupportedOperator", operator=what)
    return Poison()


def _unfit(operator: str, side: Expr) -> bool:
    """Whether a number cannot be an operand, which is reported."""
    number = side.value if isinstance(side, Const) and isinstance(side.type, t.Number) else 0
    if isinstance(number, int) and not -(2**63) < number < 2**63:
        complain("HugeNumber", value=number)
    elif number != number or (abs(number) == math.inf and operator not in COMPARISONS):
        complain("NotFinite", value=number)
    else:
        return False
    return True


def _arithmetic(operator: str, left: Expr, right: Expr) -> Expr | None:
    one, two = t.base(left.type), t.base(right.type)
    if isinstance(one, t.Number) and isinstance(two, t.Number):
        result = t.INT if one == two == t.INT and operator != "/" else t.FLOAT
        return Op(operator, (left, right), result)
    if operator == "+" and isinstance(one, t.Text) and isinstance(two, t.Text):
        made = join((left, right))
        if (flaw := flaw_of(made, False)) is not None:
            complain(flaw[0], **flaw[1])
            return Poison()
        return made
    return None


def _comparison(operator: str, left: Expr, right: Expr) -> Expr | None:
    if operator in ("==", "!="):
        for maybe, plain in ((left, right), (right, left)):
            if isinstance(maybe.type, t.Maybe) and not isinstance(plain.type, (t.Maybe, t.Nothing)):
                return _optional(operator, maybe, maybe.type.item, plain)
    one, two = t.base(left.type), t.base(right.type)
    same = one == two and (
        isinstance(one, (t.Number, t.Text)) or (isinstance(one, Textual) and one.canonical)
    )
    if operator in ("==", "!="):
        for side, other, const in ((one, two, right), (two, one, left)):
            # The text of an optional or union value differs from that of the other operand.
            is_text = isinstance(side, t.Maybe) and not t.holds_file(side)
            same = same or (is_text and isinstance(other, t.Nothing))
            same = same or (isinstance(side, t.Choice) and isinstance(const, Const))
        same = same or (one == two and isinstance(one, (t.Flag, t.Enumeration)))
    if same and operator in ("==", "!="):
        for kind, const in ((left.type, right), (right.type, left)):
            if (
                isinstance(kind, t.Choice)
                and isinstance(const, Const)
                and not _among(const.value, kind.values)
            ):
                return _never(operator, const.value, kind.values)
    if same or (isinstance(one, t.Number) and isinstance(two, t.Number)):
        return Op(operator, (left, right), t.BOOL)
    return None


def _optional(operator: str, side: Expr, kind: t.Type, other: Expr) -> Expr | None:
    """Whether a value that may be None equals one that is not None."""
    wider = t.FLOAT if t.base(kind) == t.INT and t.base(other.type) == t.FLOAT else kind
    found = _comparison(operator, Either((side, other), wider), other)
    if found is None or isinstance(found, Poison):
        return found
    equal = operator == "=="
    there = Op("!=" if equal else "==", (side, Const(None, t.NONE)), t.BOOL)
    return Op("&" if equal else "|", (there, found), t.BOOL)


def _logic(operator: str, left: Expr, right: Expr) -> Expr | None:
    if isinstance(left.type, t.Flag) and isinstance(right.type, t.Flag):
        return Op(operator, (left, right), t.BOOL)
    return None


def _among(value: object, values: tuple[object, ...]) -> bool:
    return any(one == value and isinstance(one, bool) == isinstance(value, bool) for one in values)


def _never(operator: str, value: object, values: tuple[object, ...]) -> Expr:
    """Poison for a comparison with a constant result, which is reported."""
    from flowdsl.diagnostic import near

    close = near(value, [one for one in values if isinstance(one, str)]) if isinstance(value, str) else None
    answer = "always False" if operator == "==" else "always True"
    shown = tuple(map(repr, values))
    complain("NeverEqual", have=repr(value), answer=answer, near=close and repr(close), values=shown)
    return Poison()
