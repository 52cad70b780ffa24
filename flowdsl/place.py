"""Where something was written: cheap to record, exact when shown.

Recording stores a code object and an instruction offset (a quarter of a microsecond); the columns
are looked up in the file's syntax tree only when a diagnostic is shown.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from types import CodeType, FrameType


class Span(NamedTuple):
    """A stretch of a file: lines and columns from 1, columns in code points, the end exclusive.

    `column` 0 means that only the line is known (Python ran without debug ranges).
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


class Site(NamedTuple):
    """The instruction of the user's code that called us."""

    code: CodeType
    lasti: int


class Argument(NamedTuple):
    """One argument of the call at a site: a keyword's value, a keyword's name, or a position.

    `part` is "value" or "name" (of the keyword); "item:NAME" and "key:NAME" mean the entry of that name in a
    dict, or in a call with keywords, that is the argument's value.
    `arrived` is the number of positional arguments that the call brought, where it is known: when the text
    of the call has another number (`functools.partial`), a position in it means nothing.
    """

    site: Site
    name: str | None = None
    position: int | None = None
    part: str = "value"
    arrived: int | None = None


class Definition(NamedTuple):
    """A function's definition, or a part of it.

    Without a name, the name in its `def` line. With one: a parameter (`part` "name", "annotation" or
    "default"), an option of its decorator (`part` "option"), or, with the name "return", the
    annotation of the result.
    """

    code: CodeType
    name: str | None = None
    part: str = "name"


Place = Span | Site | Argument | Definition


def here() -> Site:
    """The place in the user's code that is being executed: the first frame outside flowdsl."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name != "flowdsl" and not name.startswith("flowdsl."):
            return Site(frame.f_code, frame.f_lasti)
        frame = frame.f_back
    raise AssertionError("flowdsl was called by nobody")
