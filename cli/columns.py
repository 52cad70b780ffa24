"""Tables and paragraphs that fit into a width, of texts that may hold anything."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NamedTuple

from flowdsl.cli.report import visible
from flowdsl.cli.tables import wide

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flowdsl.cli.tables import Paint

_GAP = 2


def width(paint: Paint) -> int | None:
    """The columns that there are: `$COLUMNS`, else those of the terminal; None elsewhere, as for a file."""
    asked = os.environ.get("COLUMNS", "")
    return int(asked) if asked.isdecimal() and int(asked) else paint.width()


def line(text: str) -> str:
    """A text as one line that can be shown anywhere: what would steer a terminal is written as an escape."""
    return visible(" ".join(text.split()))


def safe(text: str) -> str:
    """A text as standard output can take it: what its encoding lacks is written as an escape."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def clip(text: str, room: int | None) -> str:
    """A line that is not longer than so many columns."""
    if room is None or wide(text) <= room:
        return text
    end = "..." if room > 6 else ""
    return _fitting(text, room - len(end)).rstrip() + end


def wrap(text: str, room: int | None, indent: str = "") -> list[str]:
    """A text as lines of so many columns, each after an indentation; a word that is too long is broken."""
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
    """The beginning of a text that takes so many columns at most; one character at least."""
    taken = 0
    for at, one in enumerate(text):
        taken += wide(one)
        if taken > room and at:
            return text[:at]
    return text


class Column(NamedTuple):
    """A column of a table."""

    head: str
    least: int = 0
    """The columns that it can be cut to, where room is scarce; 0: it is never cut."""
    right: bool = False
    short: str = ""
    """Its head where room is scarce."""


class Cell(NamedTuple):
    """A text of a table, in one line, and its style."""

    text: str
    style: str = ""


class Table:
    """Rows below each other. Where they are wider than there is room, the widest of what can be cut is.

    A row that has fewer cells than there are columns is empty in the last ones. Columns for which there is no room
    at all are left out from the right.
    """

    def __init__(self, columns: Sequence[Column], rows: Sequence[Sequence[Cell]], room: int | None) -> None:
        self._rows = rows
        self._columns = list(columns)
        heads = [one.head for one in columns]
        self.widths = self._widest(heads)
        if room is not None and self._total() > room:
            heads = [one.short or one.head for one in columns]
            self.widths = self._widest(heads)
            self._fit(room)
        self._heads = heads

    def cut(self, row: int) -> bool:
        """Whether not all of the last cell of a row is seen."""
        cells = self._rows[row]
        at = len(cells) - 1
        return at >= len(self.widths) or wide(cells[at].text) > self.widths[at]

    def text(self, paint: Paint) -> str:
        """The table."""
        head = [Cell(one, "dim") for one in self._heads]
        return "".join(f"{self._line(cells, paint)}\n" for cells in (head, *self._rows))

    def _widest(self, heads: Sequence[str]) -> list[int]:
        return [
            max([wide(head), *(wide(row[at].text) for row in self._rows if at < len(row))])
            for at, head in enumerate(heads)
        ]

    def _total(self) -> int:
        return sum(self.widths) + _GAP * (len(self.widths) - 1)

    def _fit(self, room: int) -> None:
        while (over := self._total() - room) > 0:
            left = [
                (taken - one.least, at)
                for at, (taken, one) in enumerate(zip(self.widths, self._columns, strict=False))
                if one.least and taken > one.least
            ]
            if left:
                _, widest = max(left)
                others = [more for more, at in left if at != widest]
                spare = max(left)[0] - max(others, default=0)
                self.widths[widest] -= min(over, max(1, spare), max(left)[0])
            elif len(self.widths) > 1:
                self.widths.pop()
            else:
                self.widths[0] = room

    def _line(self, cells: Sequence[Cell], paint: Paint) -> str:
        parts: list[str] = []
        for at, (room, cell) in enumerate(zip(self.widths, cells, strict=False)):
            text = clip(cell.text, room)
            padding = " " * (room - wide(text))
            painted = paint(text, cell.style)
            parts.append(padding + painted if self._columns[at].right else painted + padding)
        return (" " * _GAP).join(parts).rstrip()
