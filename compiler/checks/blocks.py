"""`with` blocks that are left during compilation, or in which no step is called."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from flowdsl.compiler.findings.branches import EmptyBlock, LeftBlock
from flowdsl.diagnostic import Diagnostic
from flowdsl.grammar.regex import regex
from flowdsl.places.place import Span, extent
from flowdsl.tracing.trace import regions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flowdsl.places.source import SourceFile, Sources
    from flowdsl.tracing.trace import Trace

_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_LOOP = (ast.For, ast.AsyncFor, ast.While)
_LEAVES = regex(r"\b(?:return|break|continue)\b")


def blocks(trace: Trace, sources: Sources) -> list[Diagnostic]:
    """Findings about the blocks of a trace; a block that is left early may be empty because of that."""
    left = list(_left(trace, sources))
    return left or ([] if trace.failed else list(_empty(trace)))


def _left(trace: Trace, sources: Sources) -> Iterator[Diagnostic]:
    """`return`, `break` and `continue` that always leave a block of `when` and the like."""
    functions: dict[int, tuple[ast.FunctionDef | ast.AsyncFunctionDef, SourceFile, bool]] = {}
    words: dict[int, dict[tuple[int, int], str]] = {}  # by the end position of the call in `with`
    for graph in trace.graphs.values():
        for word, site, _ in graph.blocks.values():
            file, place = sources.file(site.code.co_filename), extent(site)
            if file is None or place is None or not _LEAVES.search(file.text):
                continue
            if (node := file.function(site.code)) is not None:
                functions[id(node)] = node, file, site.code is graph.owner.code
                words.setdefault(id(node), {})[place[2:]] = word
    for node, file, is_body in functions.values():
        last = node.body[-1]
        # The value of a helper's only branch: nothing is skipped.
        fine = last.body[-1] if isinstance(last, ast.With) and not is_body else None
        for word, found in _leaving(node.body, words[id(node)], None, None):
            if found is not fine:
                yield Diagnostic(LeftBlock(_verb(found), word), _place(found, file))


def _empty(trace: Trace) -> Iterator[Diagnostic]:
    """Conditional blocks without calls of steps: nothing in them is conditional."""
    for graph in trace.graphs.values():
        if not graph.blocks or not graph.calls:  # a graph without any calls is reported as a whole
            continue
        around = {id(one): one.site for call in graph.calls for one in regions(call.region)}
        used = {(id(site.code), site.lasti) for site in around.values()}
        for key, (word, site, has_region) in graph.blocks.items():
            if key not in used and has_region:
                yield Diagnostic(EmptyBlock(word), site)


def _leaving(
    statements: list[ast.stmt], words: Mapping[tuple[int, int], str], around: str | None, inside: str | None
) -> Iterator[tuple[str, ast.stmt]]:
    """Statements that leave a block; `around` is the block around the function, `inside` that around the loop."""
    for one in statements:
        block = around if isinstance(one, ast.Return) else inside
        if isinstance(one, (ast.Return, ast.Break, ast.Continue)):
            if block is not None:
                yield block, one
        elif isinstance(one, ast.With):
            entered = (item.context_expr for item in one.items)
            ends = ((call.end_lineno or 0, call.end_col_offset or 0) for call in entered)
            word = next((words[end] for end in ends if end in words), None)
            yield from _leaving(one.body, words, word or around, word or inside)
        elif isinstance(one, _LOOP):
            yield from _leaving(one.body, words, around, None)
            yield from _leaving(one.orelse, words, around, inside)
        elif not isinstance(one, _NESTED):
            for part in ("body", "orelse", "finalbody"):
                yield from _leaving(getattr(one, part, []), words, around, inside)
            for each in (*getattr(one, "handlers", ()), *getattr(one, "cases", ())):
                yield from _leaving(each.body, words, around, inside)


def _verb(node: ast.stmt) -> str:
    return type(node).__name__.lower()


def _place(node: ast.stmt, file: SourceFile) -> Span:
    column = file.column(node.lineno, node.col_offset)
    return Span(file.filename, node.lineno, column, node.lineno, column + len(_verb(node)))
