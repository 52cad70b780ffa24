"""Steps that exit successfully before they have returned their result."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from flowdsl.compiler.findings.bodies import ExitWithoutResult
from flowdsl.diagnostic import Diagnostic
from flowdsl.values import types as t

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flowdsl.compiler.checks.body import Body

_NAMES = frozenset(("exit", "_exit", "quit", "SystemExit"))
_FORKS = frozenset(("fork", "forkpty"))
_CAUGHT = frozenset(("SystemExit", "BaseException"))


def exits(body: Body) -> Iterator[Diagnostic]:
    """The first place where a step that returns something exits without its result.

    Not for a step with several processes: all but one of them may exit in any way.
    """
    step = body.step
    kind, names = step.signature.returns, step.code.co_names
    if _NAMES.isdisjoint(names) or isinstance(kind, (t.Nothing, t.Unsupported)):
        return
    if isinstance(kind, t.Maybe) and t.holds_file(kind):
        return  # a missing file is None
    found = min(_successes(body.node.body), key=lambda one: one.lineno, default=None)
    if found is None:
        return
    if not has_several(body):
        finding = ExitWithoutResult(step.name, ast.unparse(found), t.spell(kind))
        yield Diagnostic(finding, body.module.span(found))


def has_several(body: Body) -> bool:
    """Whether a step runs as several processes, one of which has the result: on several pods or forked."""
    step = body.step
    every = (step.options, *(call.options for call in body.given))
    return not _FORKS.isdisjoint(step.code.co_names) or any(
        options.get("distributed") is not None for options in every
    )


def _successes(nodes: Iterable[ast.AST]) -> Iterator[ast.expr]:
    """Statements that exit the process with code 0, uncaught."""
    for node in nodes:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Lambda():
                pass
            case ast.Try(finalbody=last) if node.handlers:
                yield from _successes([*node.handlers, *node.orelse, *last])
            case ast.With(items=items) | ast.AsyncWith(items=items) if any(map(_catches, items)):
                pass
            case ast.Call(
                ast.Name("exit" | "quit" | "SystemExit")
                | ast.Attribute(ast.Name("sys"), "exit")
                | ast.Attribute(ast.Name("os"), "_exit"),
                codes,
                [],
            ) if all(isinstance(one, ast.Constant) and one.value in (None, 0) for one in codes):
                yield node
            case ast.Raise(ast.Name("SystemExit") as raised):
                yield raised
            case _:
                yield from _successes(ast.iter_child_nodes(node))


def _catches(item: ast.withitem) -> bool:
    """Whether a context manager suppresses the exit: `suppress(SystemExit)`."""
    return any(isinstance(node, ast.Name) and node.id in _CAUGHT for node in ast.walk(item.context_expr))
