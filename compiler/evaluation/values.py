"""Conversion of values to text and JSON, as Go's packages do it.

Values are None, bool, int of 64 bits, float, str, bytes, list, dict,
datetime and timedelta.
"""

# The type of a value is known only at run time, as in Go: lists and mappings hold anything.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

import json
import math
import re
from datetime import datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.evaluation import go_json
from flowdsl.compiler.tree import is_number
from flowdsl.grammar.expression_tree import spot
from flowdsl.grammar.numbers import digits, fixed, json_number, scientific
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from flowdsl.grammar.expression_tree import Node

Value = Any
"""A value of an expression; its type is known only at run time, as in Go."""


class ExpressionError(Exception):
    """An expression that Argo refuses to compile, or cannot evaluate; the message is nearly Go's.

    `node` is the part of the expression that expr-lang names, if it does.
    """

    def __init__(self, message: str, node: Node | None = None) -> None:
        super().__init__(message)
        self.node = node

    def quoting(self, text: str) -> str:
        """The message as expr-lang writes it, with the line of the expression. Source: file/error.go."""
        if self.node is None:
            return str(self)
        at = spot(self.node, text)
        start = text.rfind("\n", 0, at) + 1
        line, column = text[start:].partition("\n")[0].replace("\t", " "), at - start
        place = f"({text.count(chr(10), 0, start) + 1}:{column + 1})"
        return f"{self} {place}\n | {line}\n | {'.' * column}^" if line else str(self)


class Uncompiled(ExpressionError):
    """An expression that expr-lang refuses before it evaluates anything."""


class NotHere(ExpressionError):
    """An expression that Argo evaluates, but that is not evaluated here."""


MOST = 10**6
"""The most items, or parts of a text, that are made at once: the limit of expr-lang, `MemoryBudget` in its vm."""


def within(count: int) -> int:
    """The number of items or parts of a text that sprig makes, if within MOST. Raises NotHere."""
    if count > MOST:
        raise NotHere(f"{count} at once are not made here")
    return count


class AnyMap(dict[Any, Any]):
    """A mapping with keys of any type, which JSON does not have."""


class NilList(list[Any]):
    """A nil slice of Go: null in JSON."""


class Long(int):
    """An int64, as in sprig: in Go another type than int, in expr-lang not."""


class Named:
    """A value of a Go type that is text in JSON."""

    kind = ""


class Word(int):
    """A number with a name, and a type of its own in Go, such as a month."""

    name = ""
    kind = ""


def word(number: int, name: str, kind: str) -> Word:
    """A `Word` with this number, name and type in Go."""
    made = Word(number)
    made.name, made.kind = name, kind
    return made


_HTML = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}
_FLOAT = regex(
    r"[+-]?(?:(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?|nan)", re.IGNORECASE | re.ASCII
)
INTEGER = regex(r"[+-]?[0-9]+")
"""A whole number as accepted by Go's Atoi, of any size."""


def go_type(value: Value) -> str:
    """The name of the type in Go's messages."""
    names = {
        type(None): "<nil>",
        bool: "bool",
        int: "int",
        Long: "int64",
        float: "float64",
        str: "string",
        list: "[]interface {}",
        NilList: "[]interface {}",
    }
    names |= {dict: "map[string]interface {}", AnyMap: "map[interface {}]interface {}", bytes: "[]uint8"}
    names |= {datetime: "time.Time", timedelta: "time.Duration"}
    return value.kind if isinstance(value, (Named, Word)) else names.get(type(value), type(value).__name__)


def go_kind(value: Value) -> str:
    """The kind of a value in Go's package reflect."""
    if value is None:
        return "invalid"
    if isinstance(value, (list, bytes)):
        return "slice"
    return "map" if isinstance(value, dict) else go_type(value)


def unconverted(value: Value, wanted: str) -> ExpressionError:
    """Go's error about a value that is not of the expected type."""
    found = "nil" if value is None else go_type(value)
    return ExpressionError(f"interface conversion: interface {{}} is {found}, not {wanted}")


def wrapped(number: int) -> int:
    """A number wrapped to 64 bits."""
    return (number + 2**63) % 2**64 - 2**63


def atoi(text: str) -> int:
    """strconv.Atoi. Raises ExpressionError."""
    if not INTEGER.fullmatch(text) or wrapped(int(text)) != int(text):
        raise ExpressionError(f"invalid operation: int({text})")
    return int(text)


def parse_float(text: str) -> float:
    """strconv.ParseFloat of decimal numbers; one that is too large is an error. Raises ExpressionError."""
    if (
        not _FLOAT.fullmatch(text)
        or "__" in text
        or text.endswith("_")
        or (math.isinf(float(text)) and text[-1].isdecimal())
    ):
        raise ExpressionError(f"invalid operation: float({text})")
    return float(text)


def nanoseconds(span: timedelta) -> int:
    """A duration in nanoseconds, as in Go."""
    return span // timedelta(microseconds=1) * 1000


def to_int(number: float) -> int:
    """int(x) of a float: truncated towards zero; on overflow the least number, as on amd64."""
    return int(number) if -(2.0**63) <= number < 2.0**63 else -(2**63)


def shown(value: Value) -> str:
    """fmt.Sprintf("%v")."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return "true" if value else "false"
        case float():
            return _general(value)
        case list():
            items: list[Any] = value
            return f"[{' '.join(map(shown, items))}]"
        case bytes():
            return f"[{' '.join(map(str, value))}]"
        case dict():
            found: dict[Any, Any] = value
            return f"map[{' '.join(f'{shown(key)}:{shown(found[key])}' for key in _sorted(found))}]"
        case Word():
            return value.name
        case datetime():
            return time_text(value)
        case timedelta():
            return duration_text(value)
        case _:
            return str(value)


def time_text(when: datetime) -> str:
    """String of time.Time."""
    fraction = f".{when.microsecond:06d}".rstrip("0") if when.microsecond else ""
    clock = f"{when.hour:02d}:{when.minute:02d}:{when.second:02d}{fraction}"
    return f"{when.year:04d}-{when.month:02d}-{when.day:02d} {clock} {offset_text(when)} {zone_name(when)}"


def offset_text(when: datetime, form: str = "0700") -> str:
    """The UTC offset of a time, as `+0100`, or in another of Go's forms."""
    found = when.utcoffset() or timedelta()
    minutes, seconds = divmod(int(abs(found).total_seconds()), 60)
    parts = [f"{minutes // 60:02d}", f"{minutes % 60:02d}", f"{seconds:02d}"]
    shown = parts[: len(form.replace(":", "")) // 2]
    return ("-" if found < timedelta() else "+") + (":" if ":" in form else "").join(shown)


def zone_name(when: datetime) -> str:
    """The abbreviation of the zone of a time, or its UTC offset."""
    name = when.tzname() or "UTC"
    return offset_text(when) if name != "UTC" and name.startswith("UTC") else name


def duration_text(span: timedelta) -> str:
    """String of time.Duration: `1h0m0.5s`."""
    micros = abs(span) // timedelta(microseconds=1)
    sign = "-" if span < timedelta() else ""
    if not micros:
        return "0s"
    if micros < 1000:
        return f"{sign}{micros}µs"
    if micros < 10**6:
        return f"{sign}{_decimal(micros, 1000)}ms"
    minutes, rest = divmod(micros, 60 * 10**6)
    hours, minutes = divmod(minutes, 60)
    front = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return f"{sign}{front}{_decimal(rest, 10**6)}s"


def _decimal(number: int, unit: int) -> str:
    whole, rest = divmod(number, unit)
    return f"{whole}.{rest:0{len(str(unit)) - 1}d}".rstrip("0").rstrip(".")


def _sorted(keys: dict[Any, Any]) -> list[Any]:
    return sorted(keys, key=lambda key: (not is_number(key), key if is_number(key) else str(key)))


def _general(number: float) -> str:
    """strconv.FormatFloat(x, 'g', -1, 64) as fmt calls it for %v."""
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else "+Inf" if number > 0 else "-Inf"
    exponent = digits(number)[2]
    return scientific(number) if exponent < -4 or exponent >= 6 else fixed(number)


def json_of(value: Value, *, indent: int = 0, level: int = 0, escape: bool = True) -> str:
    """json.Marshal, or json.MarshalIndent: keys are sorted; `<`, `>`, `&` become escapes. Raises ExpressionError."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case float():
            return _json_number(value)
        case str():
            text = json.dumps(value, ensure_ascii=False)
            return text.translate(_HTML if escape else {code: _HTML[code] for code in (0x2028, 0x2029)})
        case bytes():
            import base64

            return f'"{base64.b64encode(value).decode()}"'
        case NilList():
            return "null"
        case list():
            items: list[Any] = value
            texts = [json_of(one, indent=indent, level=level + 1, escape=escape) for one in items]
            return _between("[", texts, "]", indent, level)
        case AnyMap():
            raise ExpressionError(f"json: unsupported type: {go_type(value)}")
        case dict():
            found: dict[str, Any] = value
            colon = ": " if indent else ":"
            parts = [
                json_of(key, escape=escape)
                + colon
                + json_of(found[key], indent=indent, level=level + 1, escape=escape)
                for key in sorted(found)
            ]
            return _between("{", parts, "}", indent, level)
        case datetime():
            at, fraction, rest = value.isoformat().replace("+00:00", "Z").partition(".")
            digits, zone = rest[:6].rstrip("0"), rest[6:]
            return f'"{at}{fraction}{digits}{zone}"'
        case timedelta():
            return str(nanoseconds(value))
        case int():
            return int.__repr__(value)
        case tzinfo():
            return "{}"
        case Named():
            return json_of(str(value))
        case _:
            raise ExpressionError(f"json: unsupported type: {go_type(value)}")


def _between(start: str, items: list[str], end: str, indent: int, level: int) -> str:
    if not indent or not items:
        return f"{start}{','.join(items)}{end}"
    margin = " " * indent * level
    lines = ",\n".join(f"{margin}{' ' * indent}{item}" for item in items)
    return f"{start}\n{lines}\n{margin}{end}"


def _json_number(number: float) -> str:
    if not math.isfinite(number):
        raise ExpressionError(f"json: unsupported value: {_general(number)}")
    return json_number(number)


def from_json(text: str) -> Value:
    """json.Unmarshal into any: every number is a finite float. Raises ExpressionError."""

    def number(digits: str) -> float:
        found = float(digits)
        if not math.isfinite(found):
            raise ExpressionError(f"json: cannot unmarshal number {digits} into Go value of type float64")
        return found

    try:
        return go_json.loads(text, parse_int=number, parse_float=number)
    except go_json.JsonError as error:
        raise ExpressionError(str(error)) from None
    except RecursionError:
        raise ExpressionError("exceeded max depth") from None


def equal(left: Value, right: Value) -> bool:
    """`==` of expr-lang: numbers by value, everything else by type and value."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if is_number(left) and is_number(right):
        if isinstance(left, float) or isinstance(right, float):
            return float(left) == float(right)
        return bool(left == right)
    if isinstance(left, list) and isinstance(right, list):
        ones: list[Any] = left
        twos: list[Any] = right
        return len(ones) == len(twos) and all(map(equal, ones, twos))
    if isinstance(left, dict) and isinstance(right, dict):
        first: dict[Any, Any] = left
        second: dict[Any, Any] = right
        return (
            type(left) is type(right)
            and first.keys() == second.keys()
            and all(type(first[key]) is type(second[key]) and equal(first[key], second[key]) for key in first)
        )
    return type(left) is type(right) and bool(left == right)


def as_text(value: Value) -> str:
    """A text. Raises ExpressionError."""
    if not isinstance(value, str):
        raise unconverted(value, "string")
    return value


def as_list(value: Value, verb: str) -> list[Value]:
    """A list; `verb` says what is done with it. Raises ExpressionError."""
    if not isinstance(value, list):
        raise ExpressionError(f"cannot {verb} {go_kind(value)}")
    found: list[Value] = value
    return found


def as_map(value: Value, verb: str, result: str) -> dict[Value, Value]:
    """An object; `verb` and `result` say what is done with it. Raises ExpressionError."""
    if not isinstance(value, dict):
        raise ExpressionError(f"cannot {verb} {go_kind(value)}{result}")
    found: dict[Value, Value] = value
    return found


def as_number(value: Value, function: str) -> int | float:
    """A number, for a function. Raises ExpressionError."""
    if not is_number(value):
        raise ExpressionError(f"invalid argument for {function} (type {go_type(value)})")
    number: int | float = value
    return number


def as_whole(value: Value) -> int:
    """A number as an int. Raises ExpressionError."""
    if not is_number(value):
        raise ExpressionError(f"invalid operation: int({go_type(value)})")
    return to_int(value) if isinstance(value, float) else int(value)
