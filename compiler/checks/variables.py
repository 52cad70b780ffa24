"""The syntax nodes and the variables of a step's function, collected once for all checks."""

from __future__ import annotations

import ast
import sys
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar, cast

from flowdsl.compiler.carry.tree import LEAVES, NAMING, below, bound, nodes
from flowdsl.compiler.checks.paths import written_to

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

Node = TypeVar("Node", bound=ast.AST)

_APART = frozenset(
    (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Try)
    + ((ast.TryStar,) if sys.version_info >= (3, 11) else ())
)
_PERHAPS = (ast.If, ast.IfExp, ast.BoolOp, ast.Match, ast.While)


class Variables:
    """The nodes of the body of a function, and the variables that they bind.

    `joins` are the expressions that its module has for `os.path.join`, besides this one.
    """

    def __init__(self, body: Sequence[ast.AST], joins: Collection[str] = ()) -> None:
        self._body = body
        self._joins = joins
        self._by_kind: dict[type[ast.AST], list[ast.AST]] = {}
        self.sure: list[ast.AST] = []
        """The nodes whose failure fails the function, in source order: nothing catches it, and they are not in a
        nested function, class or lambda."""
        apart: list[ast.AST] = []
        todo: list[ast.AST] = [*reversed(body)]
        while todo:
            one = todo.pop()
            kind = type(one)
            if kind in _APART or (kind is ast.With and _suppresses(one)):
                apart.append(one)
                continue
            self.sure.append(one)
            if kind not in LEAVES:
                todo += reversed(below(one))

        for one in (*self.sure, *nodes(apart)):
            if (kind := type(one)) in self._by_kind:
                self._by_kind[kind].append(one)
            else:
                self._by_kind[kind] = [one]

    def of(self, kind: type[Node]) -> Sequence[Node]:
        """All nodes of a class, also those in nested functions."""
        return cast("Sequence[Node]", self._by_kind.get(kind, ()))

    @cached_property
    def times(self) -> dict[str, int]:
        """How often each variable is bound."""
        times: dict[str, int] = {}
        names = [one.id for one in self.of(ast.Name) if not isinstance(one.ctx, ast.Load)]
        for kind, every in self._by_kind.items():
            if kind in NAMING and kind is not ast.Name:  # there are too many names to examine each
                names += [name for one in every for name in bound(one)]
        for name in names:
            times[name] = times.get(name, 0) + 1
        return times

    @cached_property
    def once(self) -> dict[str, ast.expr]:
        """The values of the variables that are assigned once and not bound otherwise."""
        values: dict[str, ast.expr] = {}
        for one in self.of(ast.Assign):
            if len(one.targets) == 1 and isinstance(one.targets[0], ast.Name):
                values[one.targets[0].id] = one.value
        for annotated in self.of(ast.AnnAssign):
            if isinstance(annotated.target, ast.Name) and annotated.value is not None:
                values[annotated.target.id] = annotated.value
        return {name: value for name, value in values.items() if self.times[name] == 1}

    @cached_property
    def writes(self) -> dict[ast.AST, ast.expr]:
        """The calls that write to a path, also in nested functions, and the paths."""
        found = ((one, written_to(one)) for one in self.of(ast.Call))
        return {one: path for one, path in found if path is not None}

    def joined(self, node: ast.AST) -> list[ast.expr]:
        """The parts of a path that a call of `os.path.join` joins, however that was imported; of other nodes none."""
        match node:
            case ast.Call(ast.Attribute(ast.Attribute(_, "path"), "join"), parts, []):
                return parts
            case ast.Call(ast.Name() | ast.Attribute(ast.Name(), "join") as called, parts, []):
                return parts if ast.unparse(called) in self._joining else []
            case _:
                return []

    @cached_property
    def _joining(self) -> set[str]:
        """The expressions for `os.path.join`: of the module, and imported in the function."""
        found = {one for one in self._joins if one.partition(".")[0] not in self.times}
        for one in self.of(ast.ImportFrom):
            if one.module == "os.path":
                found |= {each.asname or each.name for each in one.names if each.name == "join"}
            elif one.module == "os":
                found |= {f"{each.asname or each.name}.join" for each in one.names if each.name == "path"}
        return found | {
            f"{each.asname}.join"
            for one in self.of(ast.Import)
            for each in one.names
            if each.name == "os.path"
        }

    @cached_property
    def certain(self) -> list[ast.AST]:
        """The nodes that a call of the function always executes."""
        return [*certain(self._body)]


def certain(body: Sequence[ast.AST], *perhaps: type[ast.AST]) -> Iterator[ast.AST]:
    """The nodes that a call of a function always executes, in source order, unless it fails before.

    The bodies of `if`, `while` and the classes in `perhaps` may not be executed, or be guarded by a test.
    """
    left = (*_PERHAPS, *_APART, *perhaps)
    todo = [one for one in reversed(body) if not isinstance(one, left)]
    while todo:
        one = todo.pop()
        if not _suppresses(one):
            yield one
            todo += [each for each in reversed(below(one)) if not isinstance(each, left)]


def _suppresses(node: ast.AST) -> bool:
    parts = nodes(node.items) if isinstance(node, ast.With) else ()
    return any(
        "suppress" in (getattr(one, word, "") or "") for one in parts for word in ("id", "attr", "arg")
    )
