"""Colours for streams that show them, and the width of the terminal."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

from flowdsl.cli.process import colored

if TYPE_CHECKING:
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
    """Colours for one stream: none if they are not visible, or not wanted."""

    def __init__(self, stream: TextIO | None) -> None:
        self.terminal = stream is not None and stream.isatty()
        self.on = colored(stream)

    def __call__(self, text: str, style: str) -> str:
        """A text in a style."""
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.on and style and text else text

    def width(self) -> int | None:
        """The number of columns: `$COLUMNS`, else that of the terminal; None elsewhere, as for a file."""
        asked = os.environ.get("COLUMNS", "")
        if asked.isdecimal() and int(asked):
            return int(asked)
        return shutil.get_terminal_size().columns if self.terminal else None


def paint_of_output() -> Paint:
    """The colours of standard output."""
    return Paint(sys.stdout)
