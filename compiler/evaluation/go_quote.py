"""Go's quoted texts and characters, as they stand in its messages.

Source: strconv/quote.go of Go 1.25.
"""

from __future__ import annotations

_ESCAPES = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
}


def quoted(text: str) -> str:
    """A text in quotes (strconv.Quote); not always valid JSON."""
    return f'"{escaped(text)}"'


def escaped(text: str) -> str:
    """The same without the quotes around it."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return text
    return "".join('\\"' if sign == '"' else _escaped(sign) for sign in text)


def quoted_rune(sign: str, *, ascii_only: bool = False) -> str:
    """A character in quotes (strconv.QuoteRune, QuoteRuneToASCII)."""
    return "'\\''" if sign == "'" else f"'{_escaped(sign, ascii_only=ascii_only)}'"


def _escaped(sign: str, *, ascii_only: bool = False) -> str:
    if sign in _ESCAPES:
        return _ESCAPES[sign]
    if sign.isprintable() and not (ascii_only and sign > "~"):
        return sign
    code = ord(sign)
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
