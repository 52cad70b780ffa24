"""The functions below `sprig.`: numbers, lists, objects and defaults; those of text are in sprig_text.py.

Source: github.com/Masterminds/sprig 3.3.0. What needs a network or a key is not computed here.
"""

# The type of a value is known only at run time, as in Go: lists and mappings hold anything.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.evaluation.chance import CHANCES
from flowdsl.compiler.evaluation.sprig_numbers import (
    divided,
    folded,
    folded_float,
    largest,
    quotient,
    rounded,
    seq,
    to_float64,
    to_int64,
    until_step,
)
from flowdsl.compiler.evaluation.sprig_text import TEXTS, strval
from flowdsl.compiler.evaluation.times import SPRIG_TIMES
from flowdsl.compiler.evaluation.values import (
    ExpressionError,
    Long,
    NilList,
    NotHere,
    Word,
    equal,
    from_json,
    go_type,
    json_of,
    unconverted,
    wrapped,
)
from flowdsl.compiler.tree import is_number
from flowdsl.grammar.functions import sprig as signatures

if TYPE_CHECKING:
    from collections.abc import Callable

    from flowdsl.compiler.evaluation.values import Value


class _Sprig:
    """The functions by name, with the arguments that Go's reflection accepts."""

    def get(self, name: str) -> Callable[..., Value] | None:
        """The function with a name, or None."""
        if name not in signatures():
            return None
        return lambda *arguments: _call(name, arguments)


SPRIG = _Sprig()

_KINDS: dict[str, tuple[type, str, Callable[[], Value]]] = {
    "text": (str, "string", str),
    "whole": (int, "int", int),
    "number": (float, "float64", float),
    "flag": (bool, "bool", bool),
    "list": (list, "[]interface {}", NilList),
    "map": (dict, "map[string]interface {}", dict),
    "time": (datetime, "time.Time", lambda: datetime(1, 1, 1, tzinfo=UTC)),
}
"""By kind of argument: its type here, its type in Go's messages, and the value of nil converted to it."""


def _call(name: str, arguments: tuple[Value, ...]) -> Value:
    signature = signatures()[name]
    least, most = signature.least, signature.most
    if len(arguments) < least or (most is not None and len(arguments) > most):
        raise ExpressionError(f"invalid number of arguments: expected {least}, got {len(arguments)}")
    given = [_typed(argument, signature.argument(index)) for index, argument in enumerate(arguments)]
    function = _FUNCTIONS.get(name) or TEXTS.get(name) or CHANCES.get(name)
    if function is None:
        raise NotHere(f"sprig.{name} is not evaluated here")
    try:
        return function(*given)
    except (TypeError, ValueError, AttributeError, ArithmeticError) as error:  # where Go panics
        raise ExpressionError(f"sprig.{name}: {error}") from None


def _typed(argument: Value, wanted: str) -> Value:
    if wanted not in _KINDS:
        return argument
    kind, word, zero = _KINDS[wanted]
    if argument is None:
        return zero()
    wrong = Long if wanted == "flag" else (Long, bool)
    if not isinstance(argument, kind) or isinstance(argument, wrong):
        raise ExpressionError(f"reflect: Call using {go_type(argument)} as type {word}")
    return argument


def _items(value: Value, function: str) -> list[Value]:
    if not isinstance(value, list):
        raise ExpressionError(f"Cannot {function} on type {go_type(value)}")
    found: list[Value] = value
    return found


def empty(value: Value) -> bool:
    """Whether a value is Go's zero value: nil, false, 0, an empty collection."""
    if isinstance(value, (str, bytes, list, dict)):
        sized: Any = value
        return len(sized) == 0
    return value is None or value is False or (is_number(value) and value == 0)


def _has(needle: Value, items: Value) -> bool:
    return items is not None and any(_same(needle, item) for item in _items(items, "find"))


def _same(one: Value, two: Value) -> bool:
    """reflect.DeepEqual: 1 is not 1.0."""
    return type(one) is type(two) and equal(one, two)


def _uniq(items: Value) -> list[Value]:
    found: list[Value] = []
    for item in _items(items, "find uniq"):
        if not any(_same(item, each) for each in found):
            found.append(item)
    return found


def _dict(*values: Value) -> dict[str, Value]:
    keys = [strval(key) for key in values[::2]]
    return dict(zip(keys, [*values[1::2], ""][: len(keys)], strict=True))


def _changed(found: dict[str, Value], key: str, value: Value) -> dict[str, Value]:
    found[key] = value
    return found


def _without_key(found: dict[str, Value], key: str) -> dict[str, Value]:
    found.pop(key, None)
    return found


def _merged(target: dict[str, Value], *sources: dict[str, Value], over: bool = False) -> dict[str, Value]:
    for source in sources:
        for key, value in source.items():
            old = target.get(key)
            if isinstance(old, dict) and isinstance(value, dict):
                inner: dict[str, Value] = old
                other: dict[str, Value] = value
                _merged(inner, other, over=over)
            elif (over and not empty(value)) or (not over and empty(old)):
                target[key] = value
    return target


_LEAST_TO_DIG = 3


def _dig(*values: Value) -> Value:
    if len(values) < _LEAST_TO_DIG:
        raise ExpressionError("dig needs at least three arguments")
    *keys, default, found = values
    for key in keys:
        if type(found) is not dict:
            raise unconverted(found, "map[string]interface {}")
        inner: dict[str, Value] = found
        if not isinstance(key, str):
            raise unconverted(key, "string")
        if key not in inner:
            return default
        found = inner[key]
    return found


def _slice(items: Value, *limits: Value) -> Value:
    found = _items(items, "slice")
    if not found:
        return None
    start, end = 0, len(found)
    if limits:
        start = to_int64(limits[0])
    if len(limits) > 1:
        end = to_int64(limits[1])
    if not 0 <= start <= end <= len(found):
        raise ExpressionError("reflect.Value.Slice: slice index out of bounds")
    return found[start:end]


def _chunk(size: int, items: Value) -> list[Value]:
    found = _items(items, "chunk")
    if size < 1:
        if size and 0 < len(found) <= 1 - size:
            return [found] if len(found) == 1 else []
        raise ExpressionError("runtime error: makeslice: len out of range")
    return [found[at : at + size] for at in range(0, len(found), size)]


def _rest(items: Value) -> Value:
    found = _items(items, "find rest")
    return found[1:] if found else NilList()


def _initial(items: Value) -> Value:
    found = _items(items, "find initial")
    return found[:-1] if found else NilList()


def _kind(value: Value) -> str:
    kinds = {
        timedelta: "int64",
        Word: "int",
        bool: "bool",
        int: "int",
        Long: "int64",
        float: "float64",
        str: "string",
        list: "slice",
        bytes: "slice",
    }
    if value is None:
        return "invalid"
    return kinds.get(type(value), "map" if isinstance(value, dict) else "struct")


def _decoded(text: str) -> Value:
    try:
        return from_json(text)
    except ExpressionError:
        return None


def _encoded(value: Value, *, indent: int = 0, escape: bool = True) -> str:
    try:
        return json_of(value, indent=indent, escape=escape)
    except ExpressionError:
        return ""


def _failed(message: str) -> Value:
    raise ExpressionError(message)


_FUNCTIONS: dict[str, Callable[..., Value]] = {
    "add": lambda *values: Long(wrapped(sum(map(to_int64, values)))),
    "sub": folded(lambda one, two: one - two),
    "mul": folded(lambda one, two: one * two),
    "div": folded(quotient),
    "mod": folded(lambda one, two: one - two * quotient(one, two)),
    "add1": lambda value: Long(wrapped(to_int64(value) + 1)),
    "max": largest,
    "biggest": largest,
    "min": lambda first, *rest: Long(min(to_int64(value) for value in (first, *rest))),
    "addf": folded_float(lambda one, two: one + two),
    "subf": folded_float(lambda one, two: one - two),
    "mulf": folded_float(lambda one, two: one * two),
    "divf": folded_float(divided),
    "add1f": lambda value: folded_float(lambda one, two: one + two)(value, 1),
    "maxf": lambda first, *rest: max(to_float64(value) for value in (first, *rest)),
    "minf": lambda first, *rest: min(to_float64(value) for value in (first, *rest)),
    "floor": lambda value: float(math.floor(to_float64(value))),
    "ceil": lambda value: float(math.ceil(to_float64(value))),
    "round": rounded,
    "int": to_int64,
    "int64": lambda value: Long(to_int64(value)),
    "float64": to_float64,
    "until": lambda count: until_step(0, count, 1 if count >= 0 else -1),
    "untilStep": until_step,
    "seq": seq,
    "default": lambda default, *given: default if not given or empty(given[0]) else given[0],
    "empty": empty,
    "coalesce": lambda *values: next((value for value in values if not empty(value)), None),
    "all": lambda *values: not any(map(empty, values)),
    "any": lambda *values: not all(map(empty, values)),
    "ternary": lambda yes, no, flag: yes if flag else no,
    "list": lambda *values: list(values),
    "tuple": lambda *values: list(values),
    "first": lambda items: next(iter(_items(items, "find first")), None),
    "last": lambda items: next(iter(_items(items, "find last")[-1:]), None),
    "rest": _rest,
    "initial": _initial,
    "append": lambda items, value: [*_items(items, "push"), value],
    "push": lambda items, value: [*_items(items, "push"), value],
    "prepend": lambda items, value: [value, *_items(items, "prepend")],
    "concat": lambda *lists: [item for each in lists for item in _items(each, "concat")] or NilList(),
    "reverse": lambda items: _items(items, "find reverse")[::-1],
    "uniq": _uniq,
    "without": lambda items, *out: [
        item for item in _items(items, "find without") if not _has(item, list(out))
    ],
    "has": _has,
    "compact": lambda items: [item for item in _items(items, "compact") if not empty(item)],
    "slice": _slice,
    "chunk": _chunk,
    "dict": _dict,
    "get": lambda found, key: found.get(key, ""),
    "set": _changed,
    "unset": _without_key,
    "hasKey": lambda found, key: key in found,
    "pluck": lambda key, *maps: [found[key] for found in maps if key in found],
    "keys": lambda *maps: [key for found in maps for key in sorted(found)],
    "values": lambda found: [found[key] for key in sorted(found)],
    "pick": lambda found, *keys: {key: found[key] for key in keys if key in found},
    "omit": lambda found, *keys: {key: value for key, value in found.items() if key not in keys},
    "merge": _merged,
    "mergeOverwrite": lambda target, *sources: _merged(target, *sources, over=True),
    "dig": _dig,
    "deepCopy": lambda value: value,
    "deepEqual": _same,
    "kindOf": _kind,
    "kindIs": lambda kind, value: _kind(value) == kind,
    "typeOf": go_type,
    "typeIs": lambda kind, value: go_type(value) == kind,
    "typeIsLike": lambda kind, value: kind in (go_type(value), f"*{go_type(value)}"),
    "fromJson": _decoded,
    "mustFromJson": from_json,
    "toJson": _encoded,
    "mustToJson": json_of,
    "toPrettyJson": lambda value: _encoded(value, indent=2),
    "mustToPrettyJson": lambda value: json_of(value, indent=2),
    "toRawJson": lambda value: _encoded(value, escape=False),
    "mustToRawJson": lambda value: json_of(value, escape=False),
    **SPRIG_TIMES,
    "fail": _failed,
    "hello": lambda: "Hello!",
}
for _name in (
    *("first", "last", "rest", "initial", "append", "push", "prepend", "reverse", "uniq", "without", "has"),
    *("compact", "slice", "chunk", "merge", "mergeOverwrite", "deepCopy"),
):
    _FUNCTIONS[f"must{_name[0].upper()}{_name[1:]}"] = _FUNCTIONS[_name]
