"""Makes arbitrary text safe for a terminal: no control sequences, and a limited width."""

from __future__ import annotations

import unicodedata

_JOINERS = "\u200c\u200d"  # parts of words and of emoji


def visible(text: str, tab: str = "\\t") -> str:
    """A text with its control characters, line ends and invisible characters escaped."""
    return text if text.isprintable() else "".join(_visible(char, tab) for char in text)


def _visible(char: str, tab: str) -> str:
    if char == "\t":
        return tab
    if char in _JOINERS or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return char
    return char.encode("unicode_escape").decode("ascii")


def wide(text: str) -> int:
    """The width of a visible text in columns (Unicode Standard Annex 11)."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def _columns(char: str) -> int:
    if char in _JOINERS or unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def line(text: str) -> str:
    """A text as one line that is safe to show anywhere: control characters are escaped."""
    return visible(" ".join(text.split()))


def clip(text: str, room: int | None) -> str:
    """A line cut to a number of columns."""
    if room is None or wide(text) <= room:
        return text
    end = "..." if room > 6 else ""
    return _fitting(text, room - len(end)).rstrip() + end


def wrap(text: str, room: int | None, indent: str = "") -> list[str]:
    """A text wrapped to a number of columns, with an indentation; words that are too long are broken."""
    if room is None:
        return [indent + text]
    room = max(8, room - len(indent))
    lines: list[str] = []
    rest = text
    while wide(rest) > room:
        piece = _fitting(rest, room)
        space = len(piece) if rest[len(piece)] == " " else piece.rfind(" ")
        piece = piece[:space] if space > 0 else piece
        lines.append(indent + piece.rstrip())
        rest = rest[len(piece) :].lstrip()
    return [*lines, indent + rest]


def _fitting(text: str, room: int) -> str:
    """The longest prefix of a text that fits into a number of columns; at least one character."""
    taken = 0
    for at, one in enumerate(text):
        taken += wide(one)
        if taken > room and at:
            return text[:at]
    return text
