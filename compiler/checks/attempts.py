"""`try` around calls of steps: it cannot catch the failure of a step, which comes after the body has ended."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from flowdsl.compiler.findings.branches import FailureUnseen
from flowdsl.diagnostic import Diagnostic
from flowdsl.grammar.regex import regex
from flowdsl.places.place import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flowdsl.places.source import SourceFile, Sources
    from flowdsl.tracing.trace import Call, Trace

_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_TRY = regex(r"\btry\b")


def unseen_failures(trace: Trace, sources: Sources) -> Iterator[Diagnostic]:
    """`except` around calls of steps, and `finally` with such calls after others."""
    called: dict[str, dict[int, Call] | None] = {}  # by file; None if it has no `try`
    for graph in trace.graphs.values():
        name = graph.owner.site.code.co_filename
        if name not in called:
            file = sources.file(name)
            called[name] = {} if file is not None and "try" in file.text and _TRY.search(file.text) else None
        if (calls := called[name]) is None:
            continue
        for call in graph.calls:  # a file outside of the pipeline that calls steps may be a library
            if call.site.code.co_filename == name and (span := sources.resolve(call.site)) is not None:
                calls.setdefault(span.line, call)
    for name, calls in called.items():
        file = sources.file(name)
        if calls is None or file is None:
            continue
        for node in ast.walk(file.tree) if file.tree is not None else ():
            if isinstance(node, (ast.Try, ast.TryStar)):
                yield from _judged(node, file, calls)


def _judged(node: ast.Try | ast.TryStar, file: SourceFile, calls: Mapping[int, Call]) -> Iterator[Diagnostic]:
    tried = _first(node.body, calls)
    if tried is None:
        return
    if node.handlers:
        handler = node.handlers[0]
        yield Diagnostic(FailureUnseen("except", tried.target.name), _word(handler.lineno, "except", file))
    elif _first(node.finalbody, calls) is not None:
        line = node.finalbody[0].lineno
        while line > 1 and not file.lines[line - 1].lstrip().startswith("finally"):
            line -= 1
        yield Diagnostic(FailureUnseen("finally", tried.target.name), _word(line, "finally", file))


def _first(body: list[ast.stmt], calls: Mapping[int, Call]) -> Call | None:
    """The first call of a step in a block itself, not in a nested function."""
    todo: list[ast.AST] = list(reversed(body))
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Call):
            own = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            if (line := next((line for line in own if line in calls), None)) is not None:
                return calls[line]
        if not isinstance(node, _NESTED):
            todo.extend(reversed(list(ast.iter_child_nodes(node))))
    return None


def _word(line: int, word: str, file: SourceFile) -> Span:
    column = file.lines[line - 1].find(word) + 1
    return Span(file.filename, line, column, line, column + len(word))
