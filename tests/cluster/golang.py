"""Texts as Go's packages quote them, for what `runtime/expressions/values.py` has no need of."""

from __future__ import annotations

from typing import Any

_ESCAPES = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}
_ESCAPES.update({'"': '\\"', "\\": "\\\\"})


def fields(value: Any) -> dict[str, Any] | None:
    """An object, or None of anything else."""
    found: dict[str, Any] = value
    return found if isinstance(value, dict) else None


def quoted(text: str) -> str:
    """strconv.Quote without the quotes around; not all of it is JSON."""
    return "".join(_ESCAPES.get(one) or (one if one.isprintable() else _code(ord(one))) for one in text)


def _code(code: int) -> str:
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
