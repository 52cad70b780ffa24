"""The functions of numbers below `sprig.`. Source: github.com/Masterminds/sprig 3.3.0, numeric.go."""

from __future__ import annotations

import math
import re
from datetime import timedelta
from decimal import ROUND_HALF_UP, Context, Decimal, localcontext
from typing import TYPE_CHECKING

from flowdsl.compiler.evaluation.values import (
    ExpressionError,
    Long,
    as_whole,
    nanoseconds,
    within,
    wrapped,
)
from flowdsl.compiler.tree import is_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from flowdsl.compiler.evaluation.values import Value


def to_int64(value: Value) -> int:
    """cast.ToInt64: 0 for anything but a number."""
    if isinstance(value, bool):
        return int(value)
    if is_number(value):
        return as_whole(value)
    if isinstance(value, str):
        whole = re.fullmatch(r"([-+]?[0-9]*)\.[0-9]*", value)
        text = value if whole is None else whole[1] if whole[1].lstrip("+-") else f"{whole[1]}0"
        octal = re.fullmatch(r"[+-]?0[0-7]+", text)
        try:
            number = int(text, 8 if octal else 0)
        except ValueError:
            return 0
        return number if wrapped(number) == number else 0
    return nanoseconds(value) if isinstance(value, timedelta) else 0


def to_float64(value: Value) -> float:
    """cast.ToFloat64: 0 for anything but a number."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return 0.0
    if isinstance(value, timedelta):
        return float(nanoseconds(value))
    return float(value) if is_number(value) or isinstance(value, bool) else 0.0


def folded(rule: Callable[[int, int], int]) -> Callable[..., Long]:
    """An operator on any number of whole numbers."""

    def made(first: Value, *rest: Value) -> Long:
        total = to_int64(first)
        for value in rest:
            total = wrapped(rule(total, to_int64(value)))
        return Long(total)

    return made


def folded_float(rule: Callable[[Decimal, Decimal], Decimal]) -> Callable[..., float]:
    """An operator on any number of floats, which sprig computes as decimals."""

    def made(first: Value = 0, *rest: Value) -> float:
        with localcontext(_EXACT):
            total = _decimal(first)
            for value in rest:
                total = rule(total, _decimal(value))
            return float(total) + 0.0  # without negative zero

    return made


def divided(one: Decimal, two: Decimal) -> Decimal:
    """A division to 16 places. Raises ExpressionError."""
    if two == 0:
        raise ExpressionError("decimal division by 0")
    return (one / two).quantize(_PLACES)


def _decimal(value: Value) -> Decimal:
    number = to_float64(value)
    if not math.isfinite(number):
        raise ExpressionError(f"Cannot create a Decimal from {number}")
    return Decimal(repr(number))


_EXACT = Context(prec=2000, rounding=ROUND_HALF_UP)
_PLACES = Decimal("1e-16")
"""The precision of a quotient. Source: DivisionPrecision of github.com/shopspring/decimal."""


def quotient(one: int, two: int) -> int:
    """An integer division, truncated towards zero. Raises ExpressionError."""
    if two == 0:
        raise ExpressionError("runtime error: integer divide by zero")
    found = abs(one) // abs(two)
    return found if (one < 0) == (two < 0) else -found


def rounded(value: Value, places: int, on: float = 0.5, *_: float) -> float:
    """A number rounded to that many places."""
    scale = math.pow(10, places)
    digit = scale * to_float64(value)
    return (math.ceil(digit) if math.modf(digit)[0] >= on else math.floor(digit)) / scale


def until_step(start: int, stop: int, step: int) -> list[int]:
    """The range of numbers between two."""
    if step == 0 or (stop < start and step >= 0) or (stop >= start and step < 0):
        return []
    within(abs(stop - start) // abs(step))
    return list(range(start, stop, step))


def seq(*numbers: int) -> str:
    """The sequence of numbers between two, as text."""
    if not 1 <= len(numbers) <= 3:
        return ""
    start, step, stop = (1, 1, numbers[0]) if len(numbers) == 1 else (numbers[0], 1, numbers[-1])
    if len(numbers) == 3:
        step = numbers[1]
        if (stop < start) != (step < 0):
            return ""
    elif stop < start:
        step = -1
    return " ".join(map(str, until_step(start, stop + (1 if step > 0 else -1), step)))


def largest(first: Value, *rest: Value) -> Long:
    """The largest of whole numbers."""
    return Long(max(to_int64(value) for value in (first, *rest)))
