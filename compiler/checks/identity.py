"""`is None` on a run-time value: no stand-in can see it, so the tree of the body is searched for it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from flowdsl.compiler import mistakes
from flowdsl.diagnostic import Diagnostic
from flowdsl.place import Span
from flowdsl.value import is_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.source import Sources
    from flowdsl.trace import Graph


def compared_with_none(graph: Graph, sources: Sources) -> Iterator[Diagnostic]:
    """Comparisons with None by identity whose other side is a run-time value."""
    if not graph.locals:
        return
    code = graph.owner.function.__code__
    file = sources.file(code.co_filename)
    if file is None or file.tree is None:
        return
    for node in ast.walk(_body(file.tree, code.co_firstlineno, code.co_name)):
        if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            continue
        sides = (node.left, node.comparators[0])
        if not any(isinstance(side, ast.Constant) and side.value is None for side in sides):
            continue
        if any(is_value(_value(side, graph)) for side in sides):
            text = ast.unparse(node)
            start = file.column(node.lineno, node.col_offset)
            end = file.column(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
            span = Span(file.filename, node.lineno, start, node.end_lineno or node.lineno, end)
            yield Diagnostic(mistakes.IsNone(text), span)


def _body(tree: ast.Module, line: int, name: str) -> ast.AST:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            if first == line:
                return node
    return ast.Module([], [])


def _value(node: ast.expr, graph: Graph) -> Any:
    """What a name or a chain of attributes of the body meant at its end."""
    match node:
        case ast.Name(name):
            return graph.locals.get(name, graph.owner.function.__globals__.get(name))
        case ast.Attribute(inner):
            # Whatever is taken from a run-time value is one too.
            return _value(inner, graph)
        case ast.Subscript(inner):
            return _value(inner, graph)
        case ast.NamedExpr(target):
            return _value(target, graph)
        case _:
            return None
