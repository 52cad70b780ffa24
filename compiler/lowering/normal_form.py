"""Code in a normal form, without comments, formatting and positions, for digests."""

from __future__ import annotations

import ast
from typing import cast

from flowdsl.grammar.digest import digest


def normal(node: ast.AST) -> str:
    """A piece of a syntax tree as text, identical in every Python version that flowdsl runs on.

    `ast.dump` omits other fields in each version; here all empty fields are omitted.
    """
    parts = [type(node).__name__]
    for name, given in ast.iter_fields(node):
        value = _merged(node.values) if name == "values" and isinstance(node, ast.JoinedStr) else given
        if value is None and not isinstance(node, ast.Constant):
            continue
        if value == [] or name in ("kind", "type_comment", "type_ignores"):
            continue
        parts.append(f"{name}={_value(value)}")
    return f"({' '.join(parts)})"


def _value(value: object) -> str:
    if isinstance(value, ast.AST):
        return normal(value)
    if isinstance(value, list):
        return f"[{' '.join(map(_value, cast('list[object]', value)))}]"
    return f"{type(value).__name__}:{value!r}"


def _merged(parts: list[ast.expr]) -> list[object]:
    """The parts of an f-string, with adjacent texts merged: Python versions split them differently."""
    found: list[object] = []
    for part in parts:
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            if found and isinstance(found[-1], str):
                found[-1] += part.value
            elif part.value:
                found.append(part.value)
        else:
            found.append(part)
    return found


def statements(text: str) -> list[tuple[str, str]]:
    """The statements of a text: the name and digest of each."""
    return [(_name(node), digest(normal(node))) for node in ast.parse(text).body]


def _name(node: ast.stmt) -> str:
    """The name of a statement: the names it defines."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case ast.Import() | ast.ImportFrom():
            return ast.unparse(node)
        case ast.If(test=ast.Constant(value=True), body=[inner]):
            return _name(inner)  # a function that was defined inside another
        case ast.Assign(targets=targets):
            return ", ".join(map(ast.unparse, targets))
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            return ast.unparse(target)
        case _:
            return ast.unparse(node).partition("\n")[0][:40]
