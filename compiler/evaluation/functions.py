"""The functions of expr-lang that take no predicate, and those that Argo adds.

Source: github.com/expr-lang/expr 1.17.8, builtin/builtin.go and lib.go; Argo Workflows 4.1, util/expr/env/env.go.
"""

# The type of a value is known only at run time, as in Go: lists and mappings hold anything.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportUnknownVariableType=false

from __future__ import annotations

import base64
import math
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.evaluation import lists
from flowdsl.compiler.evaluation.base import decoded64
from flowdsl.compiler.evaluation.jsonpath import jsonpath
from flowdsl.compiler.evaluation.operators import flag
from flowdsl.compiler.evaluation.times import date, length, zone_of
from flowdsl.compiler.evaluation.values import (
    MOST,
    AnyMap,
    ExpressionError,
    Long,
    NilList,
    as_list,
    as_number,
    as_text,
    as_whole,
    atoi,
    from_json,
    go_type,
    json_of,
    nanoseconds,
    parse_float,
    shown,
    wrapped,
)
from flowdsl.compiler.tree import is_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from flowdsl.compiler.evaluation.values import Value


def _bits(value: Value, function: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ExpressionError(f"cannot use {go_type(value)} as argument (type int) to call {function}")
    return value


def _length(value: Value) -> int:
    if isinstance(value, (str, bytes, list, dict)):
        sized: Any = value
        return len(sized)
    raise ExpressionError(f"invalid argument for len (type {go_type(value)})")


_TYPES = {
    type(None): "nil",
    bool: "bool",
    int: "int",
    Long: "int",
    float: "float",
    str: "string",
    list: "array",
    bytes: "array",
    dict: "map",
    AnyMap: "map",
    datetime: "time.Time",
    timedelta: "time.Duration",
}


def _as_int(value: Value) -> int:
    if isinstance(value, str):
        return atoi(value)
    if value is None:
        raise ExpressionError("reflect: call of reflect.Value.Type on zero Value")
    if isinstance(value, timedelta):
        return nanoseconds(value)
    return as_whole(value)


def _as_float(value: Value) -> float:
    if isinstance(value, str):
        return parse_float(value)
    if not is_number(value):
        raise ExpressionError(f"invalid operation: float({go_type(value)})")
    return float(value)


def _absolute(value: Value) -> Value:
    number = as_number(value, "abs")
    return wrapped(abs(number)) if isinstance(number, int) else -number if number < 0 else number


def _rounding(function: str, rule: Callable[[float], float]) -> Callable[[Value], float]:
    def made(value: Value) -> float:
        number = float(as_number(value, function))
        return rule(number) if math.isfinite(number) else number

    return made


def _away(number: float) -> float:
    whole = math.trunc(number)
    return math.copysign(abs(whole) + (abs(number - whole) >= 0.5), number)


def cased(text: str, rule: Callable[[str], str]) -> str:
    """Upper or lower case as in Go: each character becomes one character."""
    return "".join(rule(sign) if len(rule(sign)) == 1 else sign for sign in text)


def _split(text: Value, separator: Value, count: Value = None, *, after: bool = False) -> list[str]:
    whole, sign = as_text(text), as_text(separator)
    most = -1 if count is None else as_whole(count)
    if most == 0:
        return NilList()
    parts = split(whole, sign, most)
    return [part + sign for part in parts[:-1]] + parts[-1:] if after and sign else parts


def split(text: str, separator: str, count: int) -> list[str]:
    """At most `count` parts of a text, or all if negative; without a separator its characters."""
    if separator:
        return text.split(separator) if count < 0 else text.split(separator, count - 1)
    return list(text) if count < 0 or count >= len(text) else [*text[: count - 1], text[count - 1 :]]


def _replace(text: Value, old: Value, new: Value, count: Value = -1) -> str:
    return as_text(text).replace(as_text(old), as_text(new), as_whole(count))


def _repeat(text: Value, count: Value) -> str:
    times = as_whole(count)
    if times < 0:
        raise ExpressionError(f"invalid argument for repeat (expected positive integer, got {times})")
    if times > MOST:
        raise ExpressionError("memory budget exceeded")
    return as_text(text) * times


def _called_with(text: Value) -> str:
    """The argument of one of Argo's functions, which takes nil for an empty text."""
    if text is not None and not isinstance(text, str):
        raise ExpressionError(f"reflect: Call using {go_type(text)} as type string")
    return text or ""


def _join(items: Value, glue: Value = "") -> str:
    if not isinstance(items, list):
        found = "%!s(<nil>)" if items is None else go_type(items)
        raise ExpressionError(f"invalid argument for join (type {found})")
    return as_text(glue).join(map(as_text, items))


def _index(text: Value, part: Value, last: bool = False) -> int:
    whole, found = as_text(text).encode(), as_text(part).encode()
    return whole.rfind(found) if last else whole.find(found)


def _now(zone: Value = None) -> datetime:
    return datetime.now(zone if isinstance(zone, tzinfo) else UTC)


def _shift(function: str, rule: Callable[[int, int], int]) -> Callable[[Value, Value], int]:
    def made(left: Value, right: Value) -> int:
        one, two = _bits(left, function), _bits(right, function)
        if two < 0:
            raise ExpressionError(f"invalid operation: negative shift count {two} (type int)")
        return wrapped(rule(one, min(two, 64)))

    return made


def _bit(function: str, rule: Callable[[int, int], int]) -> Callable[[Value, Value], int]:
    return lambda left, right: wrapped(rule(_bits(left, function), _bits(right, function)))


def _keep(text: str, start: bool, part: str) -> str:
    return text.removeprefix(part) if start else text.removesuffix(part)


SPACES = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)


def _trim(text: Value, signs: Value = SPACES) -> str:
    return as_text(text).strip(as_text(signs)) if as_text(signs) else as_text(text)


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "len": _length,
    "type": lambda value: _TYPES.get(type(value), "unknown"),
    "abs": _absolute,
    "ceil": _rounding("ceil", lambda number: float(math.ceil(number)) or math.copysign(0.0, number)),
    "floor": _rounding("floor", lambda number: float(math.floor(number)) or math.copysign(0.0, number)),
    "round": _rounding("round", _away),
    "int": _as_int,
    "asInt": _as_int,
    "float": _as_float,
    "asFloat": _as_float,
    "string": shown,
    "trim": _trim,
    "trimPrefix": lambda text, part=" ": _keep(as_text(text), True, as_text(part)),
    "trimSuffix": lambda text, part=" ": _keep(as_text(text), False, as_text(part)),
    "upper": lambda text: cased(as_text(text), str.upper),
    "lower": lambda text: cased(as_text(text), str.lower),
    "split": _split,
    "splitAfter": lambda text, separator, count=None: _split(text, separator, count, after=True),
    "replace": _replace,
    "repeat": _repeat,
    "join": _join,
    "indexOf": _index,
    "lastIndexOf": lambda text, part: _index(text, part, last=True),
    "hasPrefix": lambda text, part: as_text(text).startswith(as_text(part)),
    "hasSuffix": lambda text, part: as_text(text).endswith(as_text(part)),
    "max": lists.extreme("max", lambda best, number: best < number),
    "min": lists.extreme("min", lambda best, number: best > number),
    "mean": lists.mean,
    "median": lists.median,
    "toJSON": lambda value: json_of(value, indent=2),
    "toJson": json_of,
    "fromJSON": lambda text: from_json(as_text(text)),
    "jsonpath": lambda text, path: jsonpath(from_json(_called_with(text)), as_text(path)),
    "toBase64": lambda text: base64.b64encode(as_text(text).encode()).decode(),
    "fromBase64": lambda text: decoded64(as_text(text)),
    "now": _now,
    "date": date,
    "duration": lambda text: length(as_text(text)),
    "timezone": lambda value: zone_of(as_text(value)),
    "first": lists.end(0),
    "last": lists.end(-1),
    "get": lists.get,
    "take": lists.take,
    "keys": lambda value: lists.keys(value, "get keys from"),
    "values": lambda value: [value[key] for key in lists.keys(value, "get values from")],
    "toPairs": lambda value: [[key, value[key]] for key in lists.keys(value, "transform", " to pairs")],
    "fromPairs": lists.from_pairs,
    "reverse": lambda value: as_list(value, "reverse")[::-1],
    "uniq": lists.uniq,
    "concat": lists.concat,
    "flatten": lists.flatten,
    "sort": lists.sort,
    "count": lambda value: sum(flag(item) for item in as_list(value, "count")),
    "sum": lambda value: lists.total(as_list(value, "sum")),
    "bitand": _bit("bitand", lambda one, two: one & two),
    "bitor": _bit("bitor", lambda one, two: one | two),
    "bitxor": _bit("bitxor", lambda one, two: one ^ two),
    "bitnand": _bit("bitnand", lambda one, two: one & ~two),
    "bitshl": _shift("bitshl", lambda one, two: one << two),
    "bitshr": _shift("bitshr", lambda one, two: one >> two),
    "bitushr": _shift("bitushr", lambda one, two: (one % 2**64) >> two),
    "bitnot": lambda value: ~_bits(value, "bitnot"),
}
"""The functions by name. They get values unconverted; each raises ExpressionError for invalid ones."""
