"""What a step asks of a terminal, which no pod has: an answer, or the words of a command line."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeGuard

from flowdsl.compiler.carry.tree import local_names
from flowdsl.compiler.findings.bodies import NoTerminal
from flowdsl.diagnostic import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from flowdsl.compiler.carry.module import ModuleSource
    from flowdsl.compiler.carry.tree import Function
    from flowdsl.step import StepDef
    from flowdsl.tracing.trace import Call


_PERHAPS = (
    *(ast.Try, ast.If, ast.IfExp, ast.BoolOp, ast.Match, ast.For, ast.While),
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda),
)
"""What is inside of these may be caught, asked for before, or never reached."""


def terminal(
    step: StepDef,
    node: Function,
    module: ModuleSource,
    text: str,
    calls: Callable[[], Mapping[int, list[Call]]],
) -> Iterator[Diagnostic]:
    """Where a step asks a person for an answer, or reads a word of its command line; `text` is its script."""
    names = step.code.co_names
    if "stdin" in names or ("input" not in names and "argv" not in names):
        return
    if any(
        "argo" in options for options in (step.options, *(one.options for one in calls().get(id(step), ())))
    ):
        return
    own = {*local_names(node), *module.namespace}
    changed = any(_is_argv(one) and isinstance(one.ctx, ast.Store) for one in ast.walk(node))
    if changed or text.count("argv") > ast.unparse(node).count("argv"):
        own.add("argv")  # this function sets it, or another one may
    todo: list[ast.AST] = [one for one in node.body if not isinstance(one, _PERHAPS)]
    found: list[tuple[ast.expr, str]] = []
    while todo:
        one = todo.pop()
        match one:
            case ast.With(items) if any("suppress" in ast.unparse(each) for each in items):
                continue
            case ast.Call(ast.Name("input")) if "input" not in own:
                found.append((one, "nobody can answer in a pod: it raises EOFError"))
            case ast.Subscript(of, ast.Constant(int() as at), ast.Load()) if at > 0 and _is_argv(of):
                if "argv" not in own:
                    found.append(
                        (one, "the script of a step is started without arguments: it raises IndexError")
                    )
            case _:
                pass
        todo.extend(each for each in ast.iter_child_nodes(one) if not isinstance(each, _PERHAPS))
    for asked, reason in sorted(found, key=lambda each: (each[0].lineno, each[0].col_offset)):
        yield Diagnostic(NoTerminal(step.name, ast.unparse(asked), reason), module.span(asked))


def _is_argv(node: ast.AST) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and node.attr == "argv" and isinstance(node.value, ast.Name)
