"""The user's source files: their texts, and the spans of the places recorded in them.

There is one `Sources` per load, and no global state. Places come unresolved from `flowdsl.places.place`; here an
instruction is resolved to the expression that it was compiled from, and an argument to the text that was written for
it. Syntax trees are built and searched only when a place is asked for.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING

from flowdsl.places.place import Argument, Definition, Extent, Span, hole, position

if TYPE_CHECKING:
    import ast
    from types import CodeType

    from flowdsl.places.locate import Function, Index, Piece
    from flowdsl.places.place import Place, Position, Site

UNNAMED = frozenset(("<lambda>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"))
"""The names of code without variables of the body around it."""


class SourceFile:
    """One file: `filename` as in code objects, `shown` as in messages, its text and its tree."""

    def __init__(self, filename: str, shown: str, text: str, tree: ast.Module | None = None) -> None:
        self.filename = filename
        self.shown = shown
        self.text = text.replace("\r\n", "\n").replace("\r", "\n")
        if tree is not None:
            self.__dict__["tree"] = tree

    @cached_property
    def lines(self) -> list[str]:
        """The lines as Python counts them: only a line feed ends one."""
        return self.text.split("\n")

    @cached_property
    def tree(self) -> ast.Module | None:
        """The syntax tree; None if the text is not valid Python."""
        import ast
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return ast.parse(self.text, self.filename)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return None

    @cached_property
    def index(self) -> Index | None:
        """The tables of the tree."""
        from flowdsl.places.locate import Index

        return None if self.tree is None else Index(self.tree, self.text)

    def function(self, code: CodeType) -> Function | None:
        """The definition of a function, by its code."""
        return None if self.index is None else self.index.function(code)

    def column(self, line: int, offset: int) -> int:
        """The column, in code points from 1, of an offset in UTF-8 bytes from 0."""
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        if text.isascii():
            return offset + 1
        return len(text.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "ignore")) + 1

    def span(self, extent: Extent) -> Span:
        """The span of an extent."""
        line, end_line, start, end = extent
        return Span(self.filename, line, self.column(line, start), end_line, self.column(end_line, end))

    def node(self, node: ast.expr | ast.stmt | ast.alias | ast.arg) -> Span:
        """The span of a node of the syntax tree."""
        end_line, end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return self.span(Extent(node.lineno, end_line, node.col_offset, end))

    def piece(self, piece: Piece) -> Span:
        """The span of a piece: of its word, if it has one, else of the whole."""
        extent, word = piece
        column = self.column(extent.line, extent.column) - 1
        text = "\n".join(self.lines[extent.line - 1 : extent.end_line])
        if word is None or (found := word.match(text, column)) is None:
            return self.span(extent)
        start, end = found.span(1)
        line = extent.line + text.count("\n", 0, start)
        column = start - text.rfind("\n", 0, start)
        return Span(self.filename, line, column, line, column + end - start)


class Sources:
    """The files of a load: those that were added, and those that are loaded when a place refers to them."""

    def __init__(self) -> None:
        self._files: dict[str, SourceFile | None] = {}
        self._called: dict[int, tuple[CodeType, dict[int | None, list[int]]]] = {}
        try:
            self._folder = os.getcwd().rstrip(os.sep) + os.sep  # noqa: PTH109 -- pathlib is slow to import
        except OSError:
            self._folder = ""

    def add(
        self, filename: str, text: str, tree: ast.Module | None = None, *, shown: str | None = None
    ) -> SourceFile:
        """Add a file; `shown` is its name if it is not below the current folder."""
        name = self._near(filename)
        file = self._files[filename] = SourceFile(
            filename, name if name != filename else shown or name, text, tree
        )
        return file

    def _near(self, filename: str) -> str:
        """The name of a file, relative if it is below the current folder."""
        return filename.removeprefix(self._folder)

    def file(self, filename: str) -> SourceFile | None:
        """The file of that name; if it was not added (a notebook's cell, a module), it comes from `linecache`."""
        if filename not in self._files:
            import linecache

            # `exec` gives any text this name, and from Python 3.13 on it belongs to the program of `python -c`.
            if filename != "<string>" and (lines := linecache.getlines(filename)):
                return self.add(filename, "".join(lines))
            self._files[filename] = None
        return self._files[filename]

    def shown(self, filename: str) -> str:
        """The name of a file in messages: relative if it is below the current folder."""
        file = self.file(filename)
        return self._near(filename) if file is None else file.shown

    def excerpt(self, span: Span) -> list[str]:
        """The lines of a span; empty if the text is not available."""
        file = self.file(span.file)
        return [] if file is None else file.lines[span.line - 1 : span.end_line]

    def resolve(self, place: Place) -> Span | None:
        """The span of a place: a site's expression, an argument, a part of a definition, or a span itself.

        An argument that cannot be distinguished from others of its call (`*args`, `functools.partial`) has the
        span of the call, a missing part of a definition that of the function's name. Without debug
        ranges (`PYTHONNODEBUGRANGES`) only the line of a call is known. None if not even that is.
        """
        if isinstance(place, Span):
            return place
        if isinstance(place, Definition):
            return self._part(place.code, place.name, place.part) or self._defined(place.code)
        site = place.site if isinstance(place, Argument) else place
        filename = site.code.co_filename
        found = position(site)
        file, extent = self.file(filename), _extent(found)
        if extent is None:
            line = found[0]
            return None if line is None else _line(filename, line)
        if file is None:
            return Span(filename, extent.line, extent.column + 1, extent.end_line, extent.end_column + 1)
        if file.index is None:
            return file.span(extent)
        if isinstance(place, Argument) and (given := file.index.argument(extent, place)) is not None:
            return file.piece(given)
        return file.span(file.index.part(extent, site.code.co_name, hole(site)))

    def assigned(self, site: Site) -> str | None:
        """The variable that the result of the call at a site is assigned to, or None.

        `x = call(...)`, `x: T = call(...)`, `(x := call(...))` with one plain name, and `x, y = call(...), call(...)`;
        not `x = y = call(...)`. Without debug ranges the calls of a line are identified by their order: the name of a
        task must not depend on how Python was started.
        """
        file = self.file(site.code.co_filename)
        if file is None or file.index is None:
            return None
        found = position(site)
        if found[2] is not None:
            return file.index.assigned(found)
        written = file.index.called_on(found[0] or 0)
        made = [] if site.code.co_name in UNNAMED else self._calls(site.code).get(found[0], [])
        if not written or len(made) % len(written):  # the code of a `finally` exists twice
            return None
        number = sum(offset <= site.lasti for offset in made) - 1
        return file.index.assigned(written[number % len(written)])

    def _defined(self, code: CodeType) -> Span:
        """The name in a function's `def`; the first line if there is no text or no `def`."""
        return self._part(code, None, "name") or _line(code.co_filename, code.co_firstlineno)

    def _part(self, code: CodeType, name: str | None, part: str) -> Span | None:
        file = self.file(code.co_filename)
        if file is None or file.index is None:
            return None
        found = file.index.definition(code, name, part)
        return None if found is None else file.piece(found)

    def _calls(self, code: CodeType) -> dict[int | None, list[int]]:
        known = self._called.get(id(code))
        if known is None:
            known = self._called[id(code)] = (code, _calls(code))
        return known[1]


def _extent(found: Position) -> Extent | None:
    """A recorded position as extent, if Python kept the columns."""
    line, end_line, column, end_column = found
    if line is None or end_line is None or column is None or end_column is None:
        return None
    return Extent(line, end_line, column, end_column)


def _line(filename: str, line: int) -> Span:
    return Span(filename, line, 0, line, 0)


def _calls(code: CodeType) -> dict[int | None, list[int]]:
    """The offsets of the calls in code, by line."""
    import dis

    found: dict[int | None, list[int]] = {}
    for step in dis.get_instructions(code):
        if step.opname.startswith("CALL") and "INTRINSIC" not in step.opname:
            line = step.positions and step.positions.lineno
            found.setdefault(line, []).append(step.offset)
    return found
