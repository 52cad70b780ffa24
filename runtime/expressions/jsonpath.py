"""The values that a JSONPath of Argo's `jsonpath()` leads to.

Source: github.com/evilmonkeyinc/jsonpath 0.8.1, as far as `flowdsl.grammar.json_path` reads it.
"""

# What a value is shows when an expression runs, as in Go: lists and mappings hold anything.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.grammar import json_path as p
from flowdsl.grammar.error import GrammarError
from flowdsl.runtime.expressions.values import ExpressionError, equal, is_number

if TYPE_CHECKING:
    from flowdsl.runtime.expressions.values import Value


def jsonpath(root: Value, path: str) -> Value:
    """What a path leads to: one value, or a list where it may lead to several. Raises ExpressionError."""
    try:
        steps = p.parse(path)
    except GrammarError as error:
        raise ExpressionError(f"invalid JSONPath query {path!r} at {error.start}: {error}") from None
    return _walked(root, steps)


def _walked(root: Value, steps: tuple[p.Step, ...]) -> Value:
    values, several, deep = [root], False, False
    for step in steps:
        if isinstance(step, p.Deep):
            deep = several = True
            values = [inner for value in values for inner in _descendants(value)]
            continue
        found: list[Value] = []
        for value in values:
            try:
                for each in _taken(step, value):
                    inner: list[Value] = each if deep and isinstance(each, list) else [each]
                    found += inner
            except ExpressionError:
                if not several:
                    raise
        several = several or not isinstance(step, (p.Key, p.Index))
        values, deep = found, False
    return values if several else values[0]


def _taken(step: p.Step, value: Value) -> list[Value]:
    """What one step leads to from a value."""
    match step:
        case p.Key() | p.Index():
            return [_part(value, step)]
        case p.Several(parts):
            return [_part(value, part) for part in parts]
        case p.Range(step=0):
            raise ExpressionError("range: step cannot be 0")
        case p.Range(start, stop, every):
            return _items(value)[slice(start, stop, every)]
        case p.Where(test):
            return [each for each in _children(value) if _holds(test, each)]
        case _:
            return _all(value)


def _part(value: Value, part: p.Key | p.Index) -> Value:
    if isinstance(part, p.Key):
        return _key(value, part.name)
    items = _items(value)
    if not -len(items) <= part.number < len(items):
        raise ExpressionError(f"key: index out of range: {part.number}")
    return items[part.number]


def _key(value: Value, name: str) -> Value:
    if isinstance(value, (list, str)) and name == "length":
        sized: Any = value
        return len(sized)
    if not isinstance(value, dict):
        raise ExpressionError(f"key: invalid token target. expected [map] for {name!r}")
    found: dict[str, Value] = value
    if name not in found:
        raise ExpressionError(f"key: invalid token key {name!r} not found")
    return found[name]


def _items(value: Value) -> list[Value]:
    if not isinstance(value, list):
        raise ExpressionError("index: invalid token target. expected [array slice]")
    found: list[Value] = value
    return found


def _all(value: Value) -> list[Value]:
    if not isinstance(value, (list, dict)):
        raise ExpressionError("wildcard: invalid token target. expected [array map slice]")
    return _children(value)


def _children(value: Value) -> list[Value]:
    if isinstance(value, dict):
        found: dict[str, Value] = value
        return [found[key] for key in sorted(found)]
    items: list[Value] = value if isinstance(value, list) else []
    return items


def _descendants(value: Value) -> list[Value]:
    return [value, *(inner for child in _children(value) for inner in _descendants(child))]


def _holds(test: p.Test, value: Value) -> bool:
    """Whether a filter holds of a value."""
    match test:
        case p.Joined(every, tests):
            return (all if every else any)(_holds(each, value) for each in tests)
        case p.Not(inner):
            return not _holds(inner, value)
        case _:
            try:
                if isinstance(test, p.Compared):
                    return _compared(_operand(test.left, value), test.operator, _operand(test.right, value))
                one = _operand(test, value)
            except ExpressionError:
                return False
            return one is not None and one is not False and one != ""


def _operand(operand: p.Operand, value: Value) -> Any:
    return _walked(value, operand.path) if isinstance(operand, p.Current) else operand.value


def _compared(one: Value, sign: str, two: Value) -> bool:
    if sign in ("==", "!="):
        return equal(one, two) == (sign == "==")
    if not ((is_number(one) and is_number(two)) or (isinstance(one, str) and isinstance(two, str))):
        return False
    return bool({"<": one < two, ">": one > two, "<=": one <= two, ">=": one >= two}[sign])
