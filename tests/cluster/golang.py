"""Values as text, the way Go's packages write and read them.

Values are those of expr-lang: None, bool, int (64 bits), float, str, list and dict.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

_ESCAPES = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}
_ESCAPES.update({'"': '\\"', "\\": "\\\\"})
_HTML = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_FLOAT = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?|nan)", re.IGNORECASE)
_INT = re.compile(r"[+-]?\d+")


def elements(value: Any) -> list[Any] | None:
    """A list, or None of anything else."""
    found: list[Any] = value
    return found if isinstance(value, list) else None


def fields(value: Any) -> dict[str, Any] | None:
    """An object, or None of anything else."""
    found: dict[str, Any] = value
    return found if isinstance(value, dict) else None


class GoError(Exception):
    """What Go would report as an error."""


def wrapped(number: int) -> int:
    """A number as it is after an operation on 64 bits."""
    return (number + 2**63) % 2**64 - 2**63


def atoi(text: str) -> int:
    """strconv.Atoi."""
    if not _INT.fullmatch(text) or wrapped(int(text)) != int(text):
        raise GoError(f"invalid operation: int({text})")
    return int(text)


def parse_float(text: str) -> float:
    """strconv.ParseFloat; a number that is too large is an error."""
    if not _FLOAT.fullmatch(text) or (math.isinf(float(text)) and text[-1].isdigit()):
        raise GoError(f"invalid operation: float({text})")
    return float(text)


def to_int(number: float) -> int:
    """int(x) of a float: towards zero."""
    if not -(2.0**63) <= number < 2.0**63:
        raise GoError(f"int({number}) depends on the machine")
    return int(number)


def shown(value: Any) -> str:
    """fmt.Sprintf("%v")."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return "true" if value else "false"
        case float():
            return _general(value)
        case _ if (items := elements(value)) is not None:
            return f"[{' '.join(map(shown, items))}]"
        case _ if (found := fields(value)) is not None:
            return f"map[{' '.join(f'{key}:{shown(found[key])}' for key in sorted(found))}]"
        case _:
            return str(value)


def _digits(number: float) -> tuple[str, str, int]:
    """The sign, the shortest digits, and the exponent of the first of them."""
    mantissa, _, exponent = f"{number!r}".lower().partition("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return sign, "0", 0
    first = len(whole) - (len(whole + fraction) - len(digits)) - 1 + int(exponent or 0)
    return sign, digits.rstrip("0"), first


def _scientific(number: float) -> str:
    sign, digits, exponent = _digits(number)
    point = f".{digits[1:]}" if digits[1:] else ""
    return f"{sign}{digits[0]}{point}e{'-' if exponent < 0 else '+'}{abs(exponent):02}"


def _fixed(number: float) -> str:
    sign, digits, exponent = _digits(number)
    if exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    whole, fraction = digits[: exponent + 1].ljust(exponent + 1, "0"), digits[exponent + 1 :]
    return f"{sign}{whole}.{fraction}" if fraction else sign + whole


def _general(number: float) -> str:
    """strconv.FormatFloat(x, 'g', -1, 64) as fmt calls it for %v."""
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else "+Inf" if number > 0 else "-Inf"
    exponent = _digits(number)[2]
    return _scientific(number) if exponent < -4 or exponent >= 6 else _fixed(number)


def marshal(value: Any, *, indent: int | None = None, level: int = 0) -> str:
    """json.Marshal, or json.MarshalIndent: keys are sorted, `<`, `>` and `&` escaped."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case float():
            return _json_number(value)
        case str():
            text = json.dumps(value, ensure_ascii=False)
            return "".join(_HTML.get(one, one) for one in text)
        case _ if (items := elements(value)) is not None:
            texts = [marshal(one, indent=indent, level=level + 1) for one in items]
            return _between("[", texts, "]", indent, level)
        case _ if (found := fields(value)) is not None:
            colon = ":" if indent is None else ": "
            parts = (
                f"{marshal(key)}{colon}{marshal(found[key], indent=indent, level=level + 1)}"
                for key in sorted(found)
            )
            return _between("{", list(parts), "}", indent, level)
        case _:
            return str(value)


def _between(start: str, items: list[str], end: str, indent: int | None, level: int) -> str:
    if indent is None or not items:
        return f"{start}{','.join(items)}{end}"
    margin = " " * indent * level
    lines = ",\n".join(f"{margin}{' ' * indent}{item}" for item in items)
    return f"{start}\n{lines}\n{margin}{end}"


def _json_number(number: float) -> str:
    if not math.isfinite(number):
        raise GoError(f"unsupported value: {_general(number)}")
    if number != 0 and not 1e-6 <= abs(number) < 1e21:
        return re.sub(r"e-0(?=\d$)", "e-", _scientific(number))
    return _fixed(number)


def quoted(text: str) -> str:
    """strconv.Quote without the quotes around; not all of it is JSON."""
    return "".join(_ESCAPES.get(one) or (one if one.isprintable() else _code(ord(one))) for one in text)


def _code(code: int) -> str:
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
