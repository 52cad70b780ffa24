"""JSONPath as Argo's `jsonpath()` has it, in the parts that workflows use.

Source: github.com/evilmonkeyinc/jsonpath 0.8.1: keys, indices, slices, wildcards, recursive descent, unions and
filters. Filters compare paths from `@` with literals.
"""

# What a value is shows when an expression runs, as in Go: lists and mappings hold anything.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from flowdsl.runtime.expressions.values import ExpressionError, equal, is_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from flowdsl.runtime.expressions.values import Value

_STEP = re.compile(
    r"\.\.(?=\[|\*|[^\W\d]|')|\.?(?P<star>\*)|\.(?P<name>[^\W\d][\w-]*|'[^']*')|\[(?P<inside>(?:'[^']*'|\"[^\"]*\"|[^\]\['\"]|\[[^\]]*\])*)\]"
)
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_SLICE = re.compile(r"(-?\d*):(-?\d*)(?::(-?\d*))?")
_TERM = re.compile(
    r"\s*(@(?:\.[\w-]+|\[[^\]]*\])*|'[^']*'|\"[^\"]*\"|-?\d+(?:\.\d+)?|true|false|null|nil)\s*"
    r"(?:(==|!=|<=|>=|<|>)\s*(@(?:\.[\w-]+|\[[^\]]*\])*|'[^']*'|\"[^\"]*\"|-?\d+(?:\.\d+)?|true|false|null|nil))?\s*"
)


def jsonpath(root: Value, path: str) -> Value:
    """What a path leads to: one value, or a list where it may lead to several. Raises ExpressionError."""
    if not path.startswith("$"):
        raise ExpressionError(f"invalid JSONPath query {path!r}: it begins with $")
    values, several = [root], False
    at = 1
    deep = False
    while at < len(path):
        if path.startswith("..", at) and not deep:
            deep, several, at = True, True, at + 2
            values = [inner for value in values for inner in _descendants(value)]
            if at < len(path) and path[at] not in "[*":
                at -= 1  # the name behind is read with its dot
            continue
        match = _STEP.match(path, at)
        if match is None or match.end() == at:
            raise ExpressionError(f"invalid JSONPath query {path!r} at {at}")
        step, many = _step(match, path)
        found: list[Value] = []
        for value in values:
            try:
                for each in step(value):
                    inner: list[Value] = each if deep and isinstance(each, list) else [each]
                    found += inner
            except ExpressionError:
                if not several:
                    raise
        values, several, deep, at = found, several or many, False, match.end()
    return values if several else values[0]


def _step(match: re.Match[str], path: str) -> tuple[Callable[[Value], list[Value]], bool]:
    """One step of a path, and whether it may lead to several values."""
    if match["star"]:
        return _all, True
    if match["name"] is not None:
        name = match["name"].strip("'")
        return (lambda value: [_key(value, name)]), False
    inside = (match["inside"] or "").strip()
    if inside == "*":
        return _all, True
    if inside.startswith("?"):
        test = inside[1:].strip()
        test = test[1:-1] if test.startswith("(") and test.endswith(")") else test
        return (lambda value: [each for each in _children(value) if _holds(test, each)]), True
    if found := _SLICE.fullmatch(inside):
        limits = [int(each) if each else None for each in found.groups()]
        return (lambda value: _items(value)[slice(*limits)]), True
    parts = [part.strip() for part in re.split(r",(?=(?:[^']*'[^']*')*[^']*$)", inside)]
    return (lambda value: [_part(value, part, path) for part in parts]), len(parts) > 1


def _part(value: Value, part: str, path: str) -> Value:
    if found := _QUOTED.fullmatch(part):
        return _key(value, found[1] if found[1] is not None else found[2])
    if re.fullmatch(r"-?\d+", part):
        items, index = _items(value), int(part)
        if not -len(items) <= index < len(items):
            raise ExpressionError(f"key: index out of range: {part}")
        return items[index]
    raise ExpressionError(f"invalid JSONPath query {path!r}: {part}")


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


def _holds(test: str, value: Value) -> bool:
    """Whether a filter holds of a value."""
    for sign, join in (("||", any), ("&&", all)):
        parts = re.split(rf"{re.escape(sign)}(?=(?:[^'\"]*['\"][^'\"]*['\"])*[^'\"]*$)", test)
        if len(parts) > 1:
            return join(_holds(part, value) for part in parts)
    test = test.strip()
    if test.startswith("!"):
        return not _holds(test[1:], value)
    if test.startswith("(") and test.endswith(")"):
        return _holds(test[1:-1], value)
    match = _TERM.fullmatch(test)
    if match is None:
        raise ExpressionError(f"invalid JSONPath filter {test!r}")
    left, sign, right = match.groups()
    try:
        one = _operand(left, value)
        if sign is None:
            return one is not None and one is not False and one != ""
        return _compared(one, sign, _operand(right, value))
    except ExpressionError:
        return False


def _operand(text: str, value: Value) -> Any:
    if text.startswith("@"):
        return jsonpath(value, "$" + text[1:])
    if found := _QUOTED.fullmatch(text):
        return found[1] if found[1] is not None else found[2]
    words = {"true": True, "false": False, "null": None, "nil": None}
    return words[text] if text in words else float(text)


def _compared(one: Value, sign: str, two: Value) -> bool:
    if sign in ("==", "!="):
        return equal(one, two) == (sign == "==")
    if not ((is_number(one) and is_number(two)) or (isinstance(one, str) and isinstance(two, str))):
        return False
    return bool({"<": one < two, ">": one > two, "<=": one <= two, ">=": one >= two}[sign])
