"""Columns of text, with colours where they are seen."""

from __future__ import annotations

import shutil
import sys
import unicodedata
from typing import TYPE_CHECKING

from flowdsl.cli.process import colored

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

_CODES = {
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
    "dim": "2",
    "bold": "1",
}


class Paint:
    """Colours for one stream: none where nobody sees them, or wants them."""

    def __init__(self, stream: TextIO | None) -> None:
        self.terminal = stream is not None and stream.isatty()
        self.on = colored(stream)

    def __call__(self, text: str, style: str) -> str:
        """A text in a style."""
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.on and style and text else text

    def width(self) -> int | None:
        """The columns of a terminal; None elsewhere: lines are as long as they are."""
        return shutil.get_terminal_size().columns if self.terminal else None


def paint_of_output() -> Paint:
    """The colours of standard output."""
    return Paint(sys.stdout)


PHASES = {
    "Succeeded": "green",
    "Failed": "red",
    "Error": "red",
    "Running": "cyan",
    "Pending": "dim",
    "Skipped": "dim",
    "Omitted": "dim",
}


def wide(text: str) -> int:
    """The columns that a text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(one) else 2 if unicodedata.east_asian_width(one) in "WF" else 1
        for one in text
    )


def cut(text: str, width: int | None) -> str:
    """A text in one line that is not longer than so many columns."""
    text = " ".join(text.split())
    if width is None or wide(text) <= width:
        return text
    while text and wide(text) > max(0, width - 3):
        text = text[:-1]
    return f"{text.rstrip()}..."


def table(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    paint: Paint,
    *,
    styles: Sequence[Sequence[str]] = (),
    right: Sequence[int] = (),
    indent: str = "",
) -> str:
    """Rows below each other, with the last column as long as the line allows; columns `right` end together."""
    widths = [max(wide(row[at]) for row in (heads, *rows)) for at in range(len(heads))]
    lines: list[str] = []
    full = paint.width()
    for position, row in enumerate((heads, *rows)):
        style = ("dim",) * len(heads) if position == 0 else styles[position - 1] if styles else ()
        cells: list[str] = []
        taken = len(indent)
        for at, text in enumerate(row):
            last = at == len(row) - 1
            space = widths[at] - wide(text)
            shown = cut(text, None if full is None else max(8, full - taken)) if last else text
            painted = paint(shown, style[at] if at < len(style) else "")
            padding = " " * space
            cells.append(
                padding + painted if at in right and not last else painted + ("" if last else padding)
            )
            taken += widths[at] + 2
        lines.append((indent + "  ".join(cells)).rstrip())
    return "\n".join(lines) + "\n"
