"""What a pipeline takes of clocks and chance while it compiles, so that every run gets the same."""

from __future__ import annotations

import ast
from types import CodeType, FunctionType
from typing import TYPE_CHECKING

from flowdsl.compiler.carry.anew import anew, leads_to_them
from flowdsl.compiler.carry.tree import calls, touched
from flowdsl.compiler.findings.branches import TakenOnce
from flowdsl.diagnostic import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.places.source import SourceFile, Sources
    from flowdsl.tracing.trace import Trace


def taken_once(trace: Trace, sources: Sources) -> Iterator[Diagnostic]:
    """Calls in the bodies of pipelines, and in what these use of the top of their file."""
    seen: set[int] = set()
    for graph in trace.graphs.values():
        function = graph.owner.plain
        file = sources.file(graph.owner.site.code.co_filename)
        if file is None or type(function) is not FunctionType:
            continue
        for call in anew(_calls(function, file), function.__globals__, file.text):
            if id(call) not in seen:
                seen.add(id(call))
                yield Diagnostic(TakenOnce(f"{ast.unparse(call.func)}(...)"), file.node(call))


def _calls(function: FunctionType, file: SourceFile) -> Iterator[ast.Call]:
    """The calls that may matter, of a function, and of the assignments at the top of its file that it names."""
    code = function.__code__
    names = {*_names(code)}
    for node in file.tree.body if file.tree is not None else ():
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and names & {name for name, _ in touched(node)}:
            yield from calls(node)
    if not any(leads_to_them(function.__globals__.get(name)) for name in names):
        return  # a long pipeline is not walked for nothing
    if file.index is not None and (definition := file.index.function(code)) is not None:
        yield from calls(definition)


def _names(code: CodeType) -> Iterator[str]:
    """The names in the code of a function, and of those within it."""
    yield from code.co_names
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _names(one)
