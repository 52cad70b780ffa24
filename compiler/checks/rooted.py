"""Expressions in a function that are paths below one of its variables, or a path that is written down."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flowdsl.compiler.checks.variables import Variables

_BESIDE = frozenset(
    ("with_suffix", "with_name", "with_stem", "absolute", "resolve", "expanduser", "as_posix")
)
_MADE = frozenset(("str", "Path", "PurePath", "fspath"))


def root(node: ast.expr, variables: Variables) -> ast.expr:
    """What a path begins with: a variable, a constant, or something else."""
    seen: set[str] = set()
    while True:
        match node:
            case ast.BinOp(left, ast.Div()):
                node = left
            case ast.Call(ast.Attribute(ast.Attribute(_, "path"), "join"), [first, *_]):
                node = first
            case ast.Call(ast.Attribute(of, verb)) if verb in _BESIDE or verb == "joinpath":
                node = of
            case ast.Call(ast.Name(verb) | ast.Attribute(attr=verb), [first, *_], []) if verb in _MADE:
                node = first
            case ast.JoinedStr([ast.FormattedValue(value), ast.Constant(str() as rest), *_]) if (
                rest[:1] == "/"
            ):
                node = value
            case ast.Name(name) if name in variables.once and name not in seen:
                seen.add(name)
                node = variables.once[name]
            case _:
                return node


def text(node: ast.expr, variables: Variables, depth: int = 20) -> str:
    """The path that an expression is, where all of it is written down; nothing for any other."""
    match node:
        case ast.Constant(str() as found):
            return found
        case ast.BinOp(left, ast.Div(), right):
            parts = text(left, variables, depth - 1), text(right, variables, depth - 1)
            return "/".join(parts) if all(parts) else ""
        case ast.Call(ast.Name(verb) | ast.Attribute(attr=verb), [first], []) if verb in _MADE:
            return text(first, variables, depth - 1)
        case ast.Name(name) if name in variables.once and depth:
            return text(variables.once[name], variables, depth - 1)
        case _:
            return ""
