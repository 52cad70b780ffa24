"""Tables that fit into a given width."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.cli.display.texts import clip, wide
from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flowdsl.cli.display.paint import Paint

_GAP = 2
_LEAST = 8
"""Columns that a cell has at least before columns are left out."""


class Column(NamedTuple):
    """A column of a table."""

    head: str
    least: int = 0
    """The columns that it can be cut to, where room is scarce; 0: it is never cut."""
    right: bool = False
    short: str = ""
    """Its head where room is scarce."""


class Cell(NamedTuple):
    """A single-line text of a table, and its style."""

    text: str
    style: str = ""
    short: str = ""
    """What stands for it where room is scarce."""


class Table:
    """Rows with aligned columns.

    If they are too wide, short heads are used first; then the widest of the columns that can be cut is, down to its
    minimum. If that is not enough, short forms are used where there are any, and more is cut; then columns are
    removed from the right, except for the first ones, which are cut in the end. Rows with fewer cells than there
    are columns are padded with empty ones.
    """

    def __init__(
        self, columns: Sequence[Column], rows: Sequence[Sequence[Cell]], room: int | None, first: int = 1
    ) -> None:
        self._columns = list(columns)
        self._heads = [one.head for one in columns]
        self._rows = [list(row) for row in rows]
        self.widths = self._widest()
        if room is None or self._total() <= room:
            return
        self._heads = [one.short or one.head for one in columns]
        self.widths = self._widest()
        shorter = {at for row in rows for at, one in enumerate(row) if one.short and one.short != one.text}
        if self._fit(room, {at: one.least for at, one in enumerate(columns) if at not in shorter}):
            return
        self._rows = [[one._replace(text=one.short or one.text) for one in row] for row in rows]
        self.widths = self._widest()
        floors = {at: min(one.least, _LEAST) for at, one in enumerate(columns)}
        for end in ({at: one.least for at, one in enumerate(columns)}, floors):
            if self._fit(room, end):
                return
        while self._total() > room and len(self.widths) > first:
            self.widths.pop()
        if not self._fit(room, dict.fromkeys(range(first), 1)):
            self.widths = [max(1, room)]

    def cut(self, row: int) -> bool:
        """Whether the last cell of a row is truncated."""
        cells = self._rows[row]
        at = len(cells) - 1
        room = self.widths[at] if at < len(self.widths) else 0
        return wide(cells[at].text) > room

    def text(self, paint: Paint) -> str:
        """The table as text."""
        head = [Cell(one, "dim") for one in self._heads]
        return "".join(f"{self._line(cells, paint)}\n" for cells in (head, *self._rows))

    def _widest(self) -> list[int]:
        return [
            max([wide(head), *(wide(row[at].text) for row in self._rows if at < len(row))])
            for at, head in enumerate(self._heads)
        ]

    def _total(self) -> int:
        return sum(self.widths) + _GAP * (len(self.widths) - 1)

    def _fit(self, room: int, least: Mapping[int, int]) -> bool:
        """Cut columns until all fit, the widest first; returns whether they do. One with a minimum of 0 is not cut."""
        while (over := self._total() - room) > 0:
            left = sorted(
                ((self.widths[at] - end, at) for at, end in least.items() if 0 < end < self.widths[at]),
                reverse=True,
            )
            if not left:
                return False
            spare, at = left[0]
            self.widths[at] -= min(over, max(1, spare - left[1][0]) if len(left) > 1 else spare)
        return True

    def _line(self, cells: Sequence[Cell], paint: Paint) -> str:
        parts: list[str] = []
        for at, (room, cell) in enumerate(zip(self.widths, cells, strict=False)):
            text = clip(cell.text, room)
            padding = " " * (room - wide(text))
            painted = paint(text, cell.style)
            parts.append(padding + painted if self._columns[at].right else painted + padding)
        return (" " * _GAP).join(parts).rstrip()
