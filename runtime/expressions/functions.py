"""The functions of expr-lang without a predicate, and those that Argo adds.

Source: github.com/expr-lang/expr 1.17.8, builtin/builtin.go and lib.go; Argo Workflows 4.1, util/expr/env/env.go.
"""

# What a value is shows when an expression runs, as in Go: lists and mappings hold anything.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import base64
import binascii
import math
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from flowdsl.grammar.duration import duration
from flowdsl.grammar.error import GrammarError
from flowdsl.runtime.expressions.jsonpath import jsonpath
from flowdsl.runtime.expressions.values import (
    AnyMap,
    ExpressionError,
    atoi,
    equal,
    from_json,
    go_type,
    is_number,
    json_of,
    parse_float,
    shown,
    to_int,
    wrapped,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from flowdsl.runtime.expressions.values import Value


def _text(value: Value) -> str:
    if not isinstance(value, str):
        raise ExpressionError(f"interface conversion: interface {{}} is {go_type(value)}, not string")
    return value


def _list(value: Value, verb: str) -> list[Value]:
    if not isinstance(value, list):
        raise ExpressionError(f"cannot {verb} {go_type(value)}")
    found: list[Value] = value
    return found


def _map(value: Value, verb: str) -> dict[Value, Value]:
    if not isinstance(value, dict):
        raise ExpressionError(f"cannot {verb} {go_type(value)}")
    found: dict[Value, Value] = value
    return found


def _number(value: Value, function: str) -> int | float:
    if not is_number(value):
        raise ExpressionError(f"invalid argument for {function} (type {go_type(value)})")
    number: int | float = value
    return number


def _whole(value: Value) -> int:
    if not is_number(value):
        raise ExpressionError(f"invalid operation: int({go_type(value)})")
    return to_int(value) if isinstance(value, float) else int(value)


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
    if not is_number(value):
        raise ExpressionError(f"invalid operation: int({go_type(value)})")
    return _whole(value)


def _as_float(value: Value) -> float:
    if isinstance(value, str):
        return parse_float(value)
    if not is_number(value):
        raise ExpressionError(f"invalid operation: float({go_type(value)})")
    return float(value)


def _absolute(value: Value) -> Value:
    number = _number(value, "abs")
    return wrapped(abs(number)) if isinstance(number, int) else -number if number < 0 else number


def _rounding(function: str, rule: Callable[[float], float]) -> Callable[[Value], float]:
    def made(value: Value) -> float:
        number = float(_number(value, function))
        return rule(number) if math.isfinite(number) else number

    return made


def _away(number: float) -> float:
    whole = math.trunc(number)
    return math.copysign(abs(whole) + (abs(number - whole) >= 0.5), number)


def cased(text: str, rule: Callable[[str], str]) -> str:
    """Upper or lower case as Go has it: each character becomes one character."""
    return "".join(rule(sign) if len(rule(sign)) == 1 else sign for sign in text)


def _flag(value: Value) -> bool:
    if not isinstance(value, bool):
        raise ExpressionError(f"interface conversion: interface {{}} is {go_type(value)}, not bool")
    return value


def _split(text: Value, separator: Value, count: Value = None, *, after: bool = False) -> list[str]:
    whole, sign = _text(text), _text(separator)
    most = -1 if count is None else _whole(count)
    if most == 0:
        return []
    if not sign:
        return list(whole) if most < 0 or most >= len(whole) else [*whole[: most - 1], whole[most - 1 :]]
    parts = whole.split(sign) if most < 0 else whole.split(sign, most - 1)
    return [part + sign for part in parts[:-1]] + parts[-1:] if after else parts


def _replace(text: Value, old: Value, new: Value, count: Value = -1) -> str:
    return _text(text).replace(_text(old), _text(new), _whole(count))


def _repeat(text: Value, count: Value) -> str:
    times = _whole(count)
    if times < 0:
        raise ExpressionError(f"invalid argument for repeat (expected positive integer, got {times})")
    if times > 10**6:
        raise ExpressionError("memory budget exceeded")
    return _text(text) * times


def _join(items: Value, glue: Value = "") -> str:
    return _text(glue).join(map(_text, _list(items, "join")))


def _index(text: Value, part: Value, last: bool = False) -> int:
    whole, found = _text(text).encode(), _text(part).encode()
    return whole.rfind(found) if last else whole.find(found)


def _flat_numbers(function: str, values: tuple[Value, ...]) -> list[int | float]:
    found: list[int | float] = []
    for value in values:
        if isinstance(value, list):
            inner: list[Value] = value
            found += _flat_numbers(function, tuple(inner))
        else:
            found.append(_number(value, function))
    return found


def _extreme(function: str, better: Callable[[Any, Any], bool]) -> Callable[..., Value]:
    def made(*values: Value) -> Value:
        if len(values) == 1 and not isinstance(values[0], list) and not is_number(values[0]):
            return values[0]
        best: Value = None
        for number in _flat_numbers(function, values):
            if best is None or better(best, number):
                best = number
        return best

    return made


def _mean(*values: Value) -> float:
    numbers = [float(number) for number in _flat_numbers("mean", values)]
    total = 0.0
    for number in numbers:
        total += number
    return total / len(numbers) if numbers else 0.0


def _median(*values: Value) -> float:
    numbers = sorted(float(number) for number in _flat_numbers("median", values))
    middle = len(numbers) // 2
    if not numbers:
        return 0.0
    return numbers[middle] if len(numbers) % 2 else (numbers[middle - 1] + numbers[middle]) / 2


def _decoded(value: Value) -> str:
    try:
        return base64.b64decode(_text(value), validate=True).decode(errors="replace")
    except binascii.Error as error:
        raise ExpressionError(f"illegal base64 data: {error}") from None


def _now(zone: Value = None) -> datetime:
    return datetime.now(zone if isinstance(zone, ZoneInfo) else UTC)


def _date(*given: Value) -> datetime:
    zone = given[0] if isinstance(given[0], ZoneInfo) else None
    rest = given[1:] if zone else given
    if len(rest) != 1:
        raise ExpressionError("dates with a layout are not evaluated here")
    text = _text(rest[0])
    try:
        made = datetime.fromisoformat(text)
    except ValueError:
        raise ExpressionError(f"invalid date {text}") from None
    return made if made.tzinfo else made.replace(tzinfo=zone or UTC)


def _duration(value: Value) -> timedelta:
    try:
        return timedelta(seconds=duration(_text(value)))
    except GrammarError:
        raise ExpressionError(f"time: invalid duration {value!r}") from None


def _zone(value: Value) -> ZoneInfo:
    try:
        return ZoneInfo(_text(value))
    except (KeyError, ValueError):
        raise ExpressionError(f"unknown time zone {value}") from None


def _end(index: int) -> Callable[[Value], Value]:
    def made(value: Value) -> Value:
        if isinstance(value, str):
            codes = list(value.encode())
            return codes[index] if codes else None
        found: list[Value] = value if isinstance(value, list) else []
        return found[index] if found else None

    return made


def _get(of: Value, key: Value) -> Value:
    from flowdsl.runtime.expressions.evaluate import member

    if of is None:
        return None
    try:
        return member(of, key)
    except ExpressionError as error:
        if "index out of range" in str(error) or isinstance(of, (int, float)):
            return None
        raise


def _take(items: Value, count: Value) -> list[Value]:
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise ExpressionError(f"cannot take {go_type(count)} elements")
    return _list(items, "take from")[:count]


def _ordered_keys(value: Value, verb: str) -> list[Value]:
    return sorted(
        _map(value, verb), key=lambda key: (not is_number(key), key if is_number(key) else str(key))
    )


def _from_pairs(value: Value) -> AnyMap:
    made = AnyMap()
    for pair in _list(value, "transform"):
        found: list[Value] = pair if isinstance(pair, list) else []
        if len(found) != 2:
            raise ExpressionError(f"invalid pair {shown(pair)}")
        made[found[0]] = found[1]
    return made


def _uniq(value: Value) -> list[Value]:
    found: list[Value] = []
    for item in _list(value, "uniq"):
        if not any(equal(item, each) for each in found):
            found.append(item)
    return found


def _concat(*lists: Value) -> list[Value]:
    return [item for each in lists for item in _list(each, "concat")]


def _flatten(value: Value) -> list[Value]:
    found: list[Value] = []
    for item in _list(value, "flatten"):
        found += _flatten(item) if isinstance(item, list) else [item]
    return found


def ordered(keys: list[Value], order: Value) -> list[int]:
    """The positions of values in their order, `asc` or `desc`. Raises ExpressionError."""
    if order not in ("asc", "desc"):
        raise ExpressionError(f"invalid order {order}, expected asc or desc")
    kinds = {"number" if is_number(key) else type(key).__name__ for key in keys}
    if len(keys) > 1 and (len(kinds) > 1 or not kinds <= {"number", "str", "datetime"}):
        raise ExpressionError(f"invalid operation: {go_type(keys[0])} < {go_type(keys[1])}")
    bytewise = [key.encode() if isinstance(key, str) else key for key in keys]
    return sorted(range(len(keys)), key=bytewise.__getitem__, reverse=order == "desc")


def _sort(value: Value, order: Value = "asc") -> list[Value]:
    items = _list(value, "sort")
    return [items[index] for index in ordered(items, order)]


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
    "trim": lambda text, signs=SPACES: _text(text).strip(_text(signs)) if signs else _text(text),
    "trimPrefix": lambda text, part=" ": _keep(_text(text), True, _text(part)),
    "trimSuffix": lambda text, part=" ": _keep(_text(text), False, _text(part)),
    "upper": lambda text: cased(_text(text), str.upper),
    "lower": lambda text: cased(_text(text), str.lower),
    "split": _split,
    "splitAfter": lambda text, separator, count=None: _split(text, separator, count, after=True),
    "replace": _replace,
    "repeat": _repeat,
    "join": _join,
    "indexOf": _index,
    "lastIndexOf": lambda text, part: _index(text, part, last=True),
    "hasPrefix": lambda text, part: _text(text).startswith(_text(part)),
    "hasSuffix": lambda text, part: _text(text).endswith(_text(part)),
    "max": _extreme("max", lambda best, number: best < number),
    "min": _extreme("min", lambda best, number: best > number),
    "mean": _mean,
    "median": _median,
    "toJSON": lambda value: json_of(value, indent=2),
    "toJson": json_of,
    "fromJSON": lambda text: from_json(_text(text)),
    "jsonpath": lambda text, path: jsonpath(from_json(_text(text)), _text(path)),
    "toBase64": lambda text: base64.b64encode(_text(text).encode()).decode(),
    "fromBase64": _decoded,
    "now": _now,
    "date": _date,
    "duration": _duration,
    "timezone": _zone,
    "first": _end(0),
    "last": _end(-1),
    "get": _get,
    "take": _take,
    "keys": lambda value: _ordered_keys(value, "get keys from"),
    "values": lambda value: [value[key] for key in _ordered_keys(value, "get values from")],
    "toPairs": lambda value: [[key, value[key]] for key in _ordered_keys(value, "transform")],
    "fromPairs": _from_pairs,
    "reverse": lambda value: _list(value, "reverse")[::-1],
    "uniq": _uniq,
    "concat": _concat,
    "flatten": _flatten,
    "sort": _sort,
    "count": lambda value: sum(_flag(item) for item in _list(value, "count")),
    "sum": lambda value: _sum(_list(value, "sum")),
    "bitand": _bit("bitand", lambda one, two: one & two),
    "bitor": _bit("bitor", lambda one, two: one | two),
    "bitxor": _bit("bitxor", lambda one, two: one ^ two),
    "bitnand": _bit("bitnand", lambda one, two: one & ~two),
    "bitshl": _shift("bitshl", lambda one, two: one << two),
    "bitshr": _shift("bitshr", lambda one, two: one >> two),
    "bitushr": _shift("bitushr", lambda one, two: (one % 2**64) >> two),
    "bitnot": lambda value: ~_bits(value, "bitnot"),
}
"""The functions by name. Values come in as they are; each raises ExpressionError for what it does not take."""


def _sum(values: list[Value]) -> Value:
    total: int | float = 0
    for value in values:
        total += _number(value, "sum")
    return wrapped(total) if isinstance(total, int) else total
