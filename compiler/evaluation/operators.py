"""The operators of expr-lang on values. Source: github.com/expr-lang/expr 1.17.8, vm/runtime."""

# The type of a value is known only at run time, as in Go: lists and mappings hold anything.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

import math
import operator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.evaluation import patterns
from flowdsl.compiler.evaluation.values import (
    MOST,
    AnyMap,
    ExpressionError,
    Long,
    Word,
    as_whole,
    equal,
    go_type,
    nanoseconds,
    shown,
    to_int,
    unconverted,
    wrapped,
)
from flowdsl.compiler.tree import is_number
from flowdsl.grammar.utf8 import decoded

if TYPE_CHECKING:
    from collections.abc import Callable

    from flowdsl.compiler.evaluation.values import Value


def flag(value: Value) -> bool:
    """A value that has to be a boolean. Raises ExpressionError."""
    if not isinstance(value, bool):
        raise unconverted(value, "bool")
    return value


def member(of: Value, key: Value) -> Value:
    """`of[key]`: an item of a list, a byte of a text, a value of an object or nil. Raises ExpressionError."""
    if isinstance(of, dict):
        found: dict[Value, Value] = of
        if not isinstance(of, AnyMap) and key is not None and not isinstance(key, str):
            raise ExpressionError(f"cannot use {go_type(key)} to get an element from {go_type(of)}")
        return found.get(key)
    if isinstance(of, (list, str, bytes)):
        index = as_whole(key)
        items: list[Value] = list(of.encode()) if isinstance(of, str) else list(of)
        index = index if index >= 0 else len(items) + index
        if not 0 <= index < len(items):
            raise ExpressionError(f"index out of range: {index} (array length is {len(items)})")
        return items[index]
    raise ExpressionError(f"cannot fetch {key} from {go_type(of)}")


def cut(of: Value, first: Value, last: Value) -> Value:
    """`of[first:last]`, of the bytes of a text. Raises ExpressionError."""
    if not isinstance(of, (list, str, bytes)):
        raise ExpressionError(f"cannot slice {shown(of)}")
    items: Any = of.encode() if isinstance(of, str) else of
    size = len(items)

    def limit(value: Value) -> int:
        at = as_whole(value)
        return min(max(at + size if at < 0 else at, 0), size)

    start, end = limit(0 if first is None else first), limit(size if last is None else last)
    cut = items[min(start, end) : end]
    return decoded(cut) if isinstance(of, str) else cut


def unary(word: str, value: Value) -> Value:
    """A unary operator on a value. Raises ExpressionError."""
    if word == "!":
        return not flag(value)
    if word == "+":  # of which nothing is left when it runs
        return value
    if not is_number(value):
        raise ExpressionError(f"invalid operation: {word} {go_type(value)}")
    number = wrapped(-value) if isinstance(value, int) else -value
    return Long(number) if isinstance(value, Long) else number


_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}


_EXACT: dict[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}


def binary(word: str, left: Value, right: Value) -> Value:
    """A binary operator on two values. Raises ExpressionError."""
    if go_type(left) != go_type(right) and (isinstance(left, Word) or isinstance(right, Word)):
        return _refuse(word, left, right)
    if word in ("==", "!="):
        return equal(left, right) == (word == "==")
    if word == "in":
        return _within(left, right)
    texts = isinstance(left, str) and isinstance(right, str)
    if word in ("contains", "startsWith", "endsWith", "matches"):
        if left is None or right is None:
            return False
        if not texts:
            wanted = "[]uint8" if word == "matches" else "string"  # a pattern is sought in bytes, too
            raise unconverted(right, "string") if isinstance(left, str) else unconverted(left, wanted)
        return _textual(word, left, right)
    if texts and word == "+":
        return left + right
    if texts and word in _ORDER:
        return _ORDER[word](left.encode(), right.encode())
    if isinstance(left, (datetime, timedelta)) and isinstance(right, (datetime, timedelta)):
        return _of_times(word, left, right)
    if word == "*" and timedelta in (type(left), type(right)) and (is_number(left) or is_number(right)):
        return _lengthened(left, right)
    if not (is_number(left) and is_number(right)):
        return _refuse(word, left, right)
    return _of_numbers(word, left, right)


def _of_numbers(word: str, left: Any, right: Any) -> Value:
    if word == "..":
        first, last = to_int(left), to_int(right)
        if last - first >= MOST - 1:
            raise ExpressionError("memory budget exceeded")
        return list(range(first, last + 1))
    if word == "/":
        return _divided(float(left), float(right))
    if word == "**":
        return _power(float(left), float(right))
    if isinstance(left, float) or isinstance(right, float):
        if word == "%":
            return _refuse(word, left, right)
        left, right = float(left), float(right)
    if word in _ORDER:
        return _ORDER[word](left, right)
    if word == "%":
        if right == 0:
            raise ExpressionError("runtime error: integer divide by zero")
        rest = abs(left) % abs(right)
        return -rest if left < 0 else rest
    found = _EXACT[word](left, right)
    return wrapped(found) if isinstance(found, int) else found


def _of_times(word: str, left: Any, right: Any) -> Value:
    """Operators on times and durations: addition, subtraction, comparison."""
    rule: Callable[[Any, Any], Any] | None = _ORDER.get(word) or {"+": operator.add, "-": operator.sub}.get(
        word
    )
    try:
        return rule(left, right) if rule is not None else _refuse(word, left, right)
    except TypeError:
        return _refuse(word, left, right)


def _lengthened(left: Any, right: Any) -> Value:
    """A duration multiplied by a number; a fraction gives a number of nanoseconds."""
    span, times = (left, right) if isinstance(left, timedelta) else (right, left)
    return span * times if isinstance(times, int) else float(nanoseconds(span)) * times


def _refuse(word: str, left: Value, right: Value) -> Value:
    raise ExpressionError(f"invalid operation: {go_type(left)} {word} {go_type(right)}")


def _within(needle: Value, values: Value) -> bool:
    if values is None:
        return False
    if isinstance(values, list):
        items: list[Value] = values
        return any(equal(item, needle) for item in items)
    if isinstance(values, dict):
        found: dict[Value, Value] = values
        if not isinstance(values, AnyMap) and needle is not None and not isinstance(needle, str):
            raise ExpressionError(f"cannot use {go_type(needle)} as a key")
        return needle in found
    if isinstance(values, datetime) and isinstance(needle, str):
        return False  # of a Go struct, whether it has a field of that name
    raise ExpressionError(f'operator "in" not defined on {go_type(values)}')


def _textual(word: str, left: str, right: str) -> bool:
    if word == "contains":
        return right in left
    if word == "matches":
        return patterns.has(right, left)
    return left.startswith(right) if word == "startsWith" else left.endswith(right)


def _divided(left: float, right: float) -> float:
    if right != 0:
        return left / right
    if left == 0 or left != left:
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1, right)


def _power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return -math.inf if base < 0 and exponent % 2 == 1 else math.inf
    except ValueError:
        return math.inf if base == 0 else math.nan
