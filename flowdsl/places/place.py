"""Source positions: cheap to record, exact when shown.

Recording stores a code object and an instruction offset (a quarter of a microsecond). The columns are looked up in the
file's syntax tree only when a diagnostic is shown.
"""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import TYPE_CHECKING, cast

from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from types import CodeType, FrameType


class Extent(NamedTuple):
    """A range as in `co_positions`: lines from 1, columns in UTF-8 bytes from 0."""

    line: int
    end_line: int
    column: int
    end_column: int


class Span(NamedTuple):
    """A range of a file: lines and columns from 1, columns in code points, the end exclusive.

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

    def __hash__(self) -> int:
        # Hashing a code object visits all its constants.
        return hash((id(self.code), self.lasti))


class Argument(NamedTuple):
    """One argument of the call at a site: a keyword's value, a keyword's name, or a position.

    `part` is "value" or "name" (of the keyword); "item:NAME" and "key:NAME" denote the entry of that name in a
    dict, or in a call with keywords, that is the argument's value. `path` leads further into a literal
    value: keys of dicts, positions in lists; if it cannot be followed, the innermost known part counts.
    `arrived` is the number of positional arguments that the call passed, if it is known: if the text
    of the call has another number (`functools.partial`), a position in it means nothing.
    """

    site: Site
    name: str | None = None
    position: int | None = None
    part: str = "value"
    arrived: int | None = None
    path: tuple[str | int, ...] = ()


class Definition(NamedTuple):
    """A function's definition, or a part of it.

    Without a name, the name in its `def` line. With one: a parameter (`part` "name", "annotation" or
    "default"), or, with the name "return", the annotation of the result; with the part "value", or "item:NAME"
    for one of its outputs, what is returned, where a single `return` says that.
    """

    code: CodeType
    name: str | None = None
    part: str = "name"


Place = Span | Site | Argument | Definition

_READS = ("LOAD_FAST", "LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF")  # prefixes of the opcodes that read names


def here() -> Site:
    """The place in the user's code that is being executed: the first frame outside flowdsl and the library.

    Uses of a run-time value in the standard library, or in code that it generates, are attributed to the place
    where the user called it.
    """
    library: Site | None = None
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage] -- no public one is as fast
    while frame is not None:
        if not is_ours(frame):
            if not is_library(frame):
                return Site(frame.f_code, frame.f_lasti)
            library = library or Site(frame.f_code, frame.f_lasti)
        frame = frame.f_back
    # A thread started by the library may have no frame of the user.
    assert library is not None, "flowdsl was called by nobody"
    return library


def through_library() -> bool:
    """Whether flowdsl was called by code of the standard library, not by the user's."""
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage] -- as above
    while frame is not None and is_ours(frame):
        frame = frame.f_back
    return frame is not None and is_library(frame)


def blamed() -> tuple[Site, bool]:
    """The place in the user's code that a misuse is a mistake of, and whether foreign code did it, called there."""
    foreign = False
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage] -- as above
    while frame is not None:
        if not is_ours(frame):
            if not is_foreign(frame):
                return Site(frame.f_code, frame.f_lasti), foreign
            foreign = True
        frame = frame.f_back
    return here(), True


def is_foreign(frame: FrameType) -> bool:
    """Whether a frame runs code of the library, or of an installed package that does not use flowdsl: pydantic."""
    if is_library(frame):
        return True
    if INSTALLED.isdisjoint(frame.f_code.co_filename.split(os.sep)):  # noqa: PTH206 -- text, as code objects have it
        return False
    return not any(_of_flowdsl(one) for one in (*frame.f_globals.values(),))


def _of_flowdsl(thing: object) -> bool:
    """Whether a thing is of flowdsl; a module is not asked for more than its name, since it may load what it lacks."""
    name: object = thing.__name__ if isinstance(thing, ModuleType) else getattr(thing, "__module__", None)
    return isinstance(name, str) and name.partition(".")[0] == "flowdsl"


def is_ours(frame: FrameType) -> bool:
    """Whether a frame runs code of flowdsl."""
    return _package(frame) == "flowdsl"


_LIBRARY = (os.__file__.removesuffix("os.py"), "<frozen ")


def in_library(filename: str) -> bool:
    """Whether a file is in the standard library, and does not only share a name with it, such as `test.py`."""
    return filename.startswith(_LIBRARY)


def is_library(frame: FrameType) -> bool:
    """Whether a frame runs code of the standard library, or generated by it: a dataclass's `__eq__`."""
    filename = frame.f_code.co_filename
    own = _package(frame) in sys.stdlib_module_names and in_library(filename)
    return own or filename == "<string>"


def _package(frame: FrameType) -> str:
    """The top-level package of the module whose code a frame runs."""
    module: str = frame.f_globals.get("__name__", "")
    return module.partition(".")[0]


INSTALLED = frozenset({"site-packages", "dist-packages"})
"""The folders of installed packages."""


def extent(site: Site) -> tuple[int, int, int, int] | None:
    """The first line and column and the last ones of the source of an instruction.

    None if Python kept no columns.
    """
    line, end_line, column, end_column = position(site)
    if line is None or end_line is None or column is None or end_column is None:
        return None
    return line, column, end_line, end_column


Position = tuple[int | None, int | None, int | None, int | None]
"""The first and last line and column, as in `co_positions`."""

_MOST_CODES = 256
_KNOWN: dict[int, tuple[CodeType, list[Position]]] = {}
"""By id, because hashing a code object visits all its constants; the code is kept, so the id stays valid."""


def position(site: Site) -> Position:
    """The source position of an instruction."""
    code = site.code
    known = _KNOWN.get(id(code))
    if known is None:
        if len(_KNOWN) >= _MOST_CODES:
            _KNOWN.clear()
        known = _KNOWN[id(code)] = (code, list(code.co_positions()))
    return known[1][site.lasti // 2]


def inside(part: Site, whole: Site) -> bool:
    """Whether an instruction belongs to the expression of another one."""
    if part.code is not whole.code:
        return False
    inner, outer = extent(part), extent(whole)
    if inner is None or outer is None:
        return part.lasti == whole.lasti
    return inner[:2] >= outer[:2] and inner[2:] <= outer[2:]


def operation(site: Site) -> tuple[str, int]:
    """The name of an instruction and its argument."""
    import opcode

    code, at = site.code.co_code, site.lasti
    while opcode.opname[code[at]] == "CACHE":  # the instruction of a calling frame is followed by caches
        at -= 2
    extended = at >= 2 and opcode.opname[code[at - 2]] == "EXTENDED_ARG"
    return opcode.opname[code[at]], code[at + 1] | (code[at - 1] << 8 if extended else 0)


def hole(site: Site) -> int | None:
    """The number of values with the same text before an instruction of an f-string; None for other instructions."""
    import opcode

    if operation(site)[0] != "FORMAT_VALUE":
        return None
    number, code, where = opcode.opmap["FORMAT_VALUE"], site.code.co_code, position(site)
    before = (at for at in range(0, site.lasti, 2) if code[at] == number)
    return sum(position(Site(site.code, at)) == where for at in before)


def unpacked(site: Site) -> tuple[int, int | None] | None:
    """The minimal and maximal number of values that an instruction unpacks; None if it unpacks nothing."""
    name, number = operation(site)
    if name == "UNPACK_SEQUENCE":
        return number, number
    return (number % 256 + number // 256, None) if name == "UNPACK_EX" else None


def falls_back(site: Site) -> bool:
    """Whether an instruction tests the truth of the left operand of `or`."""
    import opcode

    name = operation(site)[0]
    if name == "JUMP_IF_TRUE_OR_POP":
        return True
    # From 3.12 on the value is copied, tested, and then possibly popped.
    names = [opcode.opname[one] for one in site.code.co_code[::2]]
    at = site.lasti // 2
    while names[at] == "CACHE":
        at -= 1
    asked = at + 1
    while name == "TO_BOOL" and names[asked] in ("CACHE", "EXTENDED_ARG"):
        asked += 1
    return "POP_JUMP_IF_TRUE" in (name, names[asked]) and names[at - 1] == "COPY"


def words(site: Site) -> set[str]:
    """The names that the expression of an instruction reads."""
    import dis

    found: set[str] = set()
    for step in dis.get_instructions(site.code):
        if step.opname.startswith(_READS) and inside(Site(site.code, step.offset), site):
            # 3.13 merges two instructions on local variables.
            both = isinstance(step.argval, tuple)
            found.update(cast("tuple[str, ...]", step.argval) if both else (step.argval,))
    return found
