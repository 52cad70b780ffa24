"""Variables that a function may read before they are assigned."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from flowdsl.compiler.carry.tree import bound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.carry.tree import Function

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def unbound(function: Function) -> Iterator[tuple[ast.Name, int | None]]:
    """The first read of each unassigned variable, and the line of its first assignment; None if it is only augmented.

    Statements directly in the body are executed in order. The order within one of them, such as a loop or an
    `if`, is not evident, so they are not examined.
    """
    first: dict[str, tuple[int, int | None]] = {}
    added: set[str] = set()
    read: list[tuple[int, ast.Name]] = []
    other = {one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)}
    for place, statement in enumerate(function.body):
        for node in _executed(statement):
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                added.add(node.target.id)
                read.append((place, node.target))
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                read.append((place, node))
            elif isinstance(node, ast.Global | ast.Nonlocal):
                other.update(node.names)
            elif isinstance(node, ast.comprehension):
                # A variable of the comprehension, which may shadow one of the function.
                other.update(one.id for one in ast.walk(node.target) if isinstance(one, ast.Name))
            else:
                for name in bound(node):
                    first.setdefault(name, (place, getattr(node, "lineno", statement.lineno)))
    for place, node in read:
        name = node.id
        at, line = first.get(name, (len(function.body), None))
        if name in other or (line is None and name not in added):
            continue
        if at > place or (at == place and _reads_first(function.body[place])):
            other.add(name)
            yield node, line


def _executed(statement: ast.stmt) -> Iterator[ast.AST]:
    """A statement and the nodes that are executed with it: no functions, classes or annotations.

    Of a generator expression, its first iterable and the variables that it assigns in the function.
    """
    todo: list[ast.AST] = [statement]
    while todo:
        node = todo.pop()
        yield node
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            todo.append(node.value)
        elif isinstance(node, ast.AnnAssign):
            todo += [node.target, *([] if node.value is None else [node.value])]
        elif isinstance(node, ast.comprehension):
            todo += [*node.ifs, node.iter]
        elif isinstance(node, ast.GeneratorExp):
            todo.append(node.generators[0].iter)
            todo += [one.target for one in ast.walk(node) if isinstance(one, ast.NamedExpr)]
        elif not isinstance(node, _SCOPES):
            todo += ast.iter_child_nodes(node)


def _reads_first(statement: ast.stmt) -> bool:
    """Whether a statement reads everything before it binds anything."""
    if not isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign):
        return False
    return not any(isinstance(node, ast.NamedExpr) for node in ast.walk(statement))
