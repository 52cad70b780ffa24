"""Evaluates a path of Argo's `jsonpath()`.

Source: github.com/evilmonkeyinc/jsonpath 0.8.1, as far as `flowdsl.grammar.json_path` reads it.
"""

# The type of a value is known only at run time, as in Go: lists and mappings hold anything.
# pyright: reportUnknownVariableType=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.evaluation.values import ExpressionError, equal, go_kind
from flowdsl.compiler.tree import is_number
from flowdsl.grammar import json_path as p
from flowdsl.grammar.error import GrammarError

if TYPE_CHECKING:
    from flowdsl.compiler.evaluation.values import Value


def jsonpath(root: Value, path: str) -> Value:
    """The result of a path: one value, or a list if it may have several. Raises ExpressionError."""
    try:
        steps = p.parse(path)
    except GrammarError as error:
        raise ExpressionError(f"invalid JSONPath query {path!r} at {error.start}: {error}") from None
    return _walked(root, steps)


def _walked(value: Value, steps: tuple[p.Step, ...]) -> Value:
    """The result of the steps from a value; if one has several, the next is applied to each of them.

    Those without a result are left out. Only an index is applied to the whole list, but not to that of `*`.
    """
    if not steps:
        return value
    step, further = steps[0], steps[1:]
    match step:
        case p.Key() | p.Index():
            return _walked(_part(value, step), further)
        case p.Deep():
            return [found for each in _descendants(value) for found in _below(each, further)]
        case _:
            found = _taken(step, value)
    if further and isinstance(further[0], p.Index) and not isinstance(step, p.Every):
        return _walked(found, further)
    return [inner for each in found if (inner := _found(each, further)) is not None] if further else found


def _found(value: Value, steps: tuple[p.Step, ...]) -> Value:
    """The result of the steps, or None."""
    try:
        return _walked(value, steps)
    except ExpressionError:
        return None


def _below(value: Value, steps: tuple[p.Step, ...]) -> list[Value]:
    found = _found(value, steps)
    if isinstance(found, list) and steps:
        inner: list[Value] = found
        return inner
    return [] if found is None else [found]


def _taken(step: p.Step, value: Value) -> list[Value]:
    """The results of a step that may have several."""
    match step:
        case p.Several(parts):
            return [_part(value, part) for part in parts if _there(value, part)]
        case p.Range(step=0):
            raise ExpressionError("range: step cannot be 0")
        case p.Range(start, stop, every):
            return _items(value, "range")[start:stop][::every]
        case p.Where(test):
            return [each for each in _all(value, "filter") if _included(test, each)]
        case _:
            return _all(value, "wildcard")


def _there(value: Value, part: p.Key | p.Index) -> bool:
    """Whether a key or index exists; a value without any is an error."""
    if isinstance(part, p.Key):
        return not isinstance(value, dict) or part.name in value
    return -len(items := _items(value)) <= part.number < len(items)


def _part(value: Value, part: p.Key | p.Index) -> Value:
    if isinstance(part, p.Key):
        return _key(value, part.name)
    items = _items(value)
    if not -len(items) <= part.number < len(items):
        raise ExpressionError("index: invalid token out of range")
    return items[part.number]


def _key(value: Value, name: str) -> Value:
    if isinstance(value, dict) and name in value:
        found: dict[str, Value] = value
        return found[name]
    if isinstance(value, (list, str, dict)) and name == "length":
        sized: Any = value
        return len(sized)
    if isinstance(value, dict):
        raise ExpressionError(f"key: invalid token key '{name}' not found")
    raise _unfit("key", "map", value)


def _items(value: Value, token: str = "index") -> list[Value]:
    if not isinstance(value, list):
        raise _unfit(token, "array slice", value)
    found: list[Value] = value
    return found


def _all(value: Value, token: str) -> list[Value]:
    if not isinstance(value, (list, dict)):
        raise _unfit(token, "array map slice", value)
    return _children(value)


def _unfit(token: str, wanted: str, value: Value) -> ExpressionError:
    """The error for a value to which a part of a path does not apply: Go names its kind."""
    found = "nil" if value is None else go_kind(value)
    return ExpressionError(f"{token}: invalid token target. expected [{wanted}] got [{found}]")


def _children(value: Value) -> list[Value]:
    if isinstance(value, dict):
        found: dict[str, Value] = value
        return [found[key] for key in sorted(found)]
    items: list[Value] = value if isinstance(value, list) else []
    return items


def _descendants(value: Value) -> list[Value]:
    return [value, *(inner for child in _children(value) for inner in _descendants(child))]


def _included(test: p.Test, value: Value) -> bool:
    """Whether a value satisfies a filter, and has all that it refers to."""
    try:
        return _holds(test, value)
    except ExpressionError:
        return False


def _holds(test: p.Test, value: Value) -> bool:
    match test:
        case p.Joined(every, tests):
            return (all if every else any)([_holds(each, value) for each in tests])
        case p.Not(inner):
            return not _holds(inner, value)
        case p.Compared(sign, left, right):
            return _compared(_operand(left, value), sign, _operand(right, value))
        case _:
            return bool(_operand(test, value))  # null, 0 and empty values are false


def _operand(operand: p.Operand, value: Value) -> Any:
    return _walked(value, operand.path) if isinstance(operand, p.Current) else operand.value


def _compared(one: Value, sign: str, two: Value) -> bool:
    if sign in ("==", "!="):
        return equal(one, two) == (sign == "==")
    if not ((is_number(one) and is_number(two)) or (isinstance(one, str) and isinstance(two, str))):
        return False
    return bool({"<": one < two, ">": one > two, "<=": one <= two, ">=": one >= two}[sign])
