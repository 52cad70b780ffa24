"""Steps that need a terminal, which no pod has: answers of a person, or words of a command line."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeGuard

from flowdsl.compiler.carry.tree import local_names
from flowdsl.compiler.checks.variables import certain
from flowdsl.compiler.findings.bodies import NoTerminal
from flowdsl.diagnostic import Diagnostic
from flowdsl.values.lift import is_dict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.checks.left_behind import Written

_ASKS = frozenset(("argv", "breakpoint", "input", "set_trace"))
_UNWATCHED = "remove it, and call the step as a function where you can answer: in a test"


def terminal(written: Written) -> Iterator[Diagnostic]:
    """Steps that read from standard input, or an argument of their command line."""
    step, node, module = written.step, written.body.node, written.body.module
    names = step.code.co_names
    if "stdin" in names or _ASKS.isdisjoint(names):
        return
    options = (step.options, *(one.options for one in written.body.given))
    if any("argo" in each for each in options):
        return
    variables = [name for each in options if is_dict(env := each.get("env")) for name in env]
    own = {*local_names(node), *module.namespace, *map(str, variables)}
    changed = any(_is_argv(one) and isinstance(one.ctx, ast.Store) for one in ast.walk(node))
    if changed or written.text.count("argv") > ast.unparse(node).count("argv"):
        own.add("argv")  # the function sets it, or another one may
    found: list[tuple[ast.expr, NoTerminal]] = []

    def note(asked: ast.expr, reason: str, *way: str) -> None:
        found.append((asked, NoTerminal(step.name, ast.unparse(asked), reason, *way)))

    for one in certain(node.body, ast.For):
        match one:
            case ast.Call(ast.Name("input")) if "input" not in own:
                note(one, "nobody can answer in a pod: it raises EOFError")
            case ast.Call(ast.Name("breakpoint")) if not {"breakpoint", "PYTHONBREAKPOINT"} & own:
                note(one, "nobody can answer in a pod: it raises BdbQuit", _UNWATCHED)
            case ast.Call(ast.Attribute(ast.Name("pdb"), "set_trace")):
                note(one, "nobody can answer in a pod: it raises BdbQuit", _UNWATCHED)
            case ast.Subscript(of, ast.Constant(int() as at), ast.Load()) if at > 0 and _is_argv(of):
                if "argv" not in own:
                    note(one, "the script of a step is started without arguments: it raises IndexError")
            case _:
                pass
    for asked, finding in found:
        yield Diagnostic(finding, module.span(asked))


def _is_argv(node: ast.AST) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and node.attr == "argv" and isinstance(node.value, ast.Name)
