"""Steps that ask an input file for its name, which artifacts do not keep."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from flowdsl.compiler.findings.bodies import LostFileName
from flowdsl.diagnostic import Diagnostic, Related
from flowdsl.pipeline import PipelineDef
from flowdsl.values import types as t
from flowdsl.values.expr import Best, OnVolume, Out, Rows, Stored, children

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.carry.tree import Function
    from flowdsl.compiler.checks.body import Body
    from flowdsl.places.place import Place
    from flowdsl.tracing.trace import Call
    from flowdsl.values.expr import Expr

_ASKED = frozenset(("name", "stem", "suffix", "suffixes"))
TOLD = frozenset(("print", "debug", "info", "log", "warning", "error", "exception", "critical"))
"""Functions that only print or log: there another name does no harm."""


def file_names(body: Body) -> Iterator[Diagnostic]:
    """Steps that use the name or suffix of a file, while one of their calls passes one that has lost it."""
    step = body.step
    lost = lost_names(body)
    for one, name in _asked(body.node) if lost else ():
        if name in lost:
            finding = LostFileName(step.name, f"{name}.{one.attr}")
            yield Diagnostic(finding, body.module.span(one), (Related(lost[name], "given here"),))


def _is_file(kind: t.Type) -> bool:
    return isinstance(t.without_none(kind), t.File)


def _asked(node: Function) -> Iterator[tuple[ast.Attribute, str]]:
    """Reads of such an attribute of a variable, in source order."""
    todo: list[ast.AST] = [*reversed(node.body)]
    while todo:
        one = todo.pop()
        match one:
            case ast.Raise() | ast.Assert():
                continue
            case ast.Call(func=ast.Name(word) | ast.Attribute(attr=word)) if word in TOLD:
                continue
            case ast.Attribute(ast.Name(name), attribute, ast.Load()) if attribute in _ASKED:
                yield one, name
            case _:
                todo.extend(reversed([*ast.iter_child_nodes(one)]))


def _changed(node: Function) -> set[str]:
    """The variables of a function that may be rebound."""
    found: set[str] = set()
    for statement in node.body:
        for inner in ast.walk(statement):
            if isinstance(inner, ast.arg):
                found.add(inner.arg)
            elif isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Load):
                found.add(inner.id)
    return found


def lost_names(body: Body) -> dict[str, Place]:
    """The parameters that get a file without its name from one of the calls of a step, and the place of that.

    Those that the function may rebind are left out.
    """
    files = {one.name for one in body.step.signature.parameters if _is_file(one.type)}
    found: dict[str, Place] = {}
    for call in body.given if files else ():
        for name, expr, place in _given(call):
            if name in files and _loses(expr):
                found.setdefault(name, place)
    changed = _changed(body.node) if found else set[str]()
    return {name: place for name, place in found.items() if name not in changed}


def _given(call: Call) -> Iterator[tuple[str, Expr, Place]]:
    for name, expr in call.arguments.items():
        yield name, expr, call.argument(name)
    for name, expr in call.loop.computed if call.loop is not None else ():
        yield name, expr, call.argument(name)


def _loses(expr: Expr) -> bool:
    """Whether a file, or one of its alternatives, arrives as an artifact; a path on a volume does not."""
    match expr:
        case Out(task) | Best(task) | Rows(task):
            return not isinstance(task, str) and not isinstance(task.target, PipelineDef)
        case Stored():
            return True
        case OnVolume():
            return False
        case _:
            return any(map(_loses, children(expr)))
