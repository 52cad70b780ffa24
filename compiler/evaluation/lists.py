"""The functions of expr-lang on lists and objects. Source: github.com/expr-lang/expr 1.17.8, builtin/."""

# The type of a value is known only at run time, as in Go: lists and mappings hold anything.
# pyright: reportUnknownVariableType=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.evaluation.operators import member
from flowdsl.compiler.evaluation.values import (
    AnyMap,
    ExpressionError,
    NilList,
    as_list,
    as_map,
    as_number,
    equal,
    go_type,
    shown,
    wrapped,
)
from flowdsl.compiler.tree import is_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from flowdsl.compiler.evaluation.values import Value


def _flat_numbers(function: str, values: tuple[Value, ...]) -> list[int | float]:
    found: list[int | float] = []
    for value in values:
        if isinstance(value, list):
            inner: list[Value] = value
            found += _flat_numbers(function, tuple(inner))
        else:
            found.append(as_number(value, function))
    return found


def extreme(function: str, better: Callable[[Any, Any], bool]) -> Callable[..., Value]:
    """The minimum or maximum of numbers and of lists of them."""

    def made(*values: Value) -> Value:
        if len(values) == 1 and not isinstance(values[0], list) and not is_number(values[0]):
            return values[0]
        best: Value = None
        for number in _flat_numbers(function, values):
            if best is None or better(best, number):
                best = number
        return best

    return made


def mean(*values: Value) -> float:
    """The mean of numbers and of lists of them."""
    numbers = [float(number) for number in _flat_numbers("mean", values)]
    added = 0.0
    for number in numbers:
        added += number
    return added / len(numbers) if numbers else 0.0


def median(*values: Value) -> float:
    """The median of numbers and of lists of them."""
    numbers = sorted(float(number) for number in _flat_numbers("median", values))
    middle = len(numbers) // 2
    if not numbers:
        return 0.0
    return numbers[middle] if len(numbers) % 2 else (numbers[middle - 1] + numbers[middle]) / 2


def total(values: list[Value]) -> Value:
    """The sum of numbers."""
    added: int | float = 0
    for value in values:
        added += as_number(value, "sum")
    return wrapped(added) if isinstance(added, int) else added


def end(index: int) -> Callable[[Value], Value]:
    """The first or the last item, or nil."""

    def made(value: Value) -> Value:
        if isinstance(value, str):
            codes = list(value.encode())
            return codes[index] if codes else None
        found: list[Value] = value if isinstance(value, list) else []
        return found[index] if found else None

    return made


def get(of: Value, key: Value) -> Value:
    """`of[key]`, or nil if there is none."""
    if of is None:
        return None
    try:
        return member(of, key)
    except ExpressionError as error:
        if "index out of range" in str(error) or isinstance(of, (int, float)):
            return None
        raise


def take(items: Value, count: Value) -> list[Value]:
    """The first items."""
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise ExpressionError(f"cannot take {go_type(count)} elements")
    return as_list(items, "take from")[:count]


def keys(value: Value, verb: str, result: str = "") -> list[Value]:
    """The keys of an object, in order."""
    return sorted(
        as_map(value, verb, result), key=lambda key: (not is_number(key), key if is_number(key) else str(key))
    )


def from_pairs(value: Value) -> AnyMap:
    """An object from its key-value pairs."""
    made = AnyMap()
    for pair in as_list(value, "transform"):
        found: list[Value] = pair if isinstance(pair, list) else []
        if len(found) != 2:
            raise ExpressionError(f"invalid pair {shown(pair)}")
        made[found[0]] = found[1]
    return made


def uniq(value: Value) -> list[Value]:
    """The items without duplicates."""
    found: list[Value] = []
    for item in as_list(value, "uniq"):
        if not any(equal(item, each) for each in found):
            found.append(item)
    return found


def concat(*lists: Value) -> list[Value]:
    """The items of all lists."""
    return [item for each in lists for item in as_list(each, "concat")] or NilList()


def flatten(value: Value) -> list[Value]:
    """The items of nested lists."""
    found: list[Value] = []
    for item in as_list(value, "flatten"):
        found += flatten(item) if isinstance(item, list) else [item]
    return found


def ordered(keys: list[Value], order: Value) -> list[int]:
    """The indexes of sorted values, `asc` or `desc`. Raises ExpressionError."""
    if order not in ("asc", "desc"):
        raise ExpressionError(f"invalid order {order}, expected asc or desc")
    kinds = {"number" if is_number(key) else type(key).__name__ for key in keys}
    if len(keys) > 1 and (len(kinds) > 1 or not kinds <= {"number", "str", "datetime"}):
        raise ExpressionError(f"invalid operation: {go_type(keys[0])} < {go_type(keys[1])}")
    bytewise = [key.encode() if isinstance(key, str) else key for key in keys]
    return sorted(range(len(keys)), key=bytewise.__getitem__, reverse=order == "desc")


def sort(value: Value, order: Value = "asc") -> list[Value]:
    """The sorted items."""
    items = as_list(value, "sort")
    return [items[index] for index in ordered(items, order)]
