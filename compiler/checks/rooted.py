"""Expressions in a function that are paths below one of its variables, or a path that is written down."""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING

from flowdsl.compiler.carry.tree import bound, nodes

if TYPE_CHECKING:
    from flowdsl.compiler.carry.tree import Function

_BESIDE = frozenset(
    ("with_suffix", "with_name", "with_stem", "absolute", "resolve", "expanduser", "as_posix")
)
_MADE = frozenset(("str", "Path", "PurePath", "fspath"))


class Rooted:
    """The paths of a function, by what they begin with."""

    def __init__(self, node: Function) -> None:
        every = nodes(node.body)
        self.times = Counter(name for one in every for name in bound(one))
        self._values = {
            one.targets[0].id: one.value
            for one in every
            if isinstance(one, ast.Assign)
            and len(one.targets) == 1
            and isinstance(one.targets[0], ast.Name)
            and self.times[one.targets[0].id] == 1
        }

    def root(self, node: ast.expr) -> ast.expr:
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
                case ast.Name(name) if name in self._values and name not in seen:
                    seen.add(name)
                    node = self._values[name]
                case _:
                    return node
