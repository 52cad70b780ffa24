"""Helpers for syntax trees: the names that statements define, change and read."""

from __future__ import annotations

import ast
import copy
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Import = ast.Import | ast.ImportFrom
Assignment = ast.Assign | ast.AnnAssign


def first_line(node: ast.stmt) -> int:
    """The first line of a statement and its code: that of the first decorator."""
    if isinstance(node, Definition) and node.decorator_list:
        return node.decorator_list[0].lineno
    return node.lineno


def bound_name(alias: ast.alias, node: Import) -> str:
    """The name that an import binds."""
    if alias.asname:
        return alias.asname
    return alias.name if isinstance(node, ast.ImportFrom) else alias.name.partition(".")[0]


def written_origin(node: ast.ImportFrom) -> str:
    """The module of a `from` import, as written."""
    return "." * node.level + (node.module or "")


def touched(node: ast.stmt) -> Iterator[tuple[str, bool]]:
    """The names of the module that a statement touches: True if it defines one, False if it modifies it.

    `X = ..` and `X += ..` define, `X["k"] = ..`, `X.k = ..`, `X.append(..)` and `setattr(X, ..)` modify, also in
    compound statements. Not in `if __name__ == "__main__"`, or in code for type checkers only.
    """
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name, True
        case ast.ImportFrom(module="__future__"):
            return
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            yield from ((bound_name(alias, node), True) for alias in aliases if alias.name != "*")
        case ast.Assign(targets=targets):
            for target in targets:
                yield from _targets(target)
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target, value=ast.expr()):
            yield from _targets(target)
        case ast.Delete(targets=targets):
            yield from ((name, False) for target in targets for name, _ in _targets(target))
        case ast.Expr(value=ast.Call(func=ast.Attribute() as called)):
            yield from _targets(called)
        case ast.Expr(value=ast.Call(ast.Name("setattr" | "delattr"), [owner, *_])):
            if (changed := root(owner)) is not None:
                yield changed, False
        case ast.If(test=test) if _is_script_only(test):
            return
        case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
            for inner in node.orelse:
                yield from touched(inner)
        case _ if type(node).__name__ == "TypeAlias":  # Python 3.12
            yield from _targets(getattr(node, "name"))  # noqa: B009 -- older Pythons have no such class
        case _:
            yield from _compound(node)


def _compound(node: ast.stmt) -> Iterator[tuple[str, bool]]:
    match node:
        case ast.For(target=target) | ast.AsyncFor(target=target):
            yield from _targets(target)
        case ast.With(items=items) | ast.AsyncWith(items=items):
            for item in items:
                if item.optional_vars is not None:
                    yield from _targets(item.optional_vars)
        case ast.Match(cases=cases):
            for part in (part for one in cases for part in ast.walk(one.pattern)):
                yield from ((name, True) for name in bound(part))
        case _:
            pass
    for inner in inside(node):
        yield from touched(inner)


NAMING = frozenset(
    (
        ast.Name,
        ast.FunctionDef,
        ast.AsyncFunctionDef,
        ast.ClassDef,
        ast.ExceptHandler,
        ast.MatchAs,
        ast.MatchStar,
        ast.MatchMapping,
        ast.Import,
        ast.ImportFrom,
    )
)
"""The nodes that may bind a name: most others are skipped, since `match` tries the patterns in turn."""


def bound(node: ast.AST) -> Iterable[str]:
    """The names that a node itself binds or deletes, without those of nested nodes."""
    if type(node) not in NAMING:
        return ()
    match node:
        case ast.Name(name, context):
            return () if isinstance(context, ast.Load) else (name,)
        case (
            ast.FunctionDef(name)
            | ast.AsyncFunctionDef(name)
            | ast.ClassDef(name)
            | ast.ExceptHandler(name=str(name))
            | ast.MatchAs(name=str(name))
            | ast.MatchStar(str(name))
            | ast.MatchMapping(rest=str(name))
        ):
            return (name,)
        case ast.Import(aliases) | ast.ImportFrom(_, aliases):
            return [bound_name(alias, node) for alias in aliases]
        case _:
            return ()


def _targets(node: ast.expr) -> Iterator[tuple[str, bool]]:
    match node:
        case ast.Name(id=name):
            yield name, True
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from _targets(part)
        case ast.Starred(value=part):
            yield from _targets(part)
        case _:
            if (changed := root(node)) is not None:
                yield changed, False


def _is_script_only(test: ast.expr) -> bool:
    match test:
        case ast.Compare(left=ast.Name(id="__name__")) | ast.Compare(comparators=[ast.Name(id="__name__")]):
            return True
        case _:
            return False


def root(node: ast.expr) -> str | None:
    """The name at the start of a chain of attributes, calls and indices."""
    while True:
        match node:
            case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Call(func=inner):
                node = inner
            case ast.Name(id=name):
                return name
            case _:
                return None


def called(decorator: ast.expr) -> ast.expr:
    """The function of a decorator: `a.b` of `@a.b(1)` and of `@a.b`."""
    return decorator.func if isinstance(decorator, ast.Call) else decorator


def walrus(node: ast.stmt) -> Iterator[tuple[str, bool]]:
    """The names that a statement defines by `:=`."""
    return ((inner.target.id, True) for inner in ast.walk(node) if isinstance(inner, ast.NamedExpr))


def names_in(node: ast.expr) -> Iterator[str]:
    """The names in an expression."""
    return (inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name))


def local_names(node: ast.stmt) -> Iterator[str]:
    """The parameters and variables of the functions in a statement."""
    for function in functions(node):
        for inner in ast.walk(function):
            if isinstance(inner, ast.arg):
                yield inner.arg
            elif isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                yield inner.id


def inside(node: ast.AST) -> list[ast.stmt]:
    """The statements directly inside a compound statement."""
    found: list[ast.stmt] = []
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for inner in getattr(node, field, ()):
            found += [inner] if isinstance(inner, ast.stmt) else inside(inner)
    return found


_PLAIN = frozenset(
    (
        *("ctx", "op", "ops", "id", "attr", "arg", "kind", "type_comment", "level", "module", "conversion"),
        *("is_async", "simple"),
    )
)


LEAVES = frozenset((ast.Name, ast.Constant))
"""The most frequent nodes, which have no children of interest."""


class _Holding(dict[type[ast.AST], tuple[str, ...]]):
    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        return self.setdefault(kind, tuple(field for field in kind._fields if field not in _PLAIN))


_HOLDING = _Holding()
"""The fields of each class of nodes that may contain expressions and statements."""


def below(node: ast.AST) -> list[ast.AST]:
    """The expressions and statements directly inside of a node, in order: twice as fast as `iter_child_nodes`."""
    found: list[ast.AST] = []
    for field in _HOLDING[type(node)]:
        value: ast.AST | list[object] | None = getattr(node, field, None)
        if isinstance(value, ast.AST):
            found.append(value)
        elif isinstance(value, list):
            found += [one for one in value if isinstance(one, ast.AST)]
    return found


def nodes(parts: Iterable[ast.AST]) -> list[ast.AST]:
    """Nodes and all nodes inside of them, in no order: `ast.walk` takes three times as long."""
    found: list[ast.AST] = []
    todo = [*parts]
    while todo:
        node = todo.pop()
        found.append(node)
        if type(node) not in LEAVES:
            todo += below(node)
    return found


def functions(node: ast.stmt) -> Iterator[Function]:
    """The module-level functions that a statement defines: not those in a class or function."""
    if isinstance(node, Function):
        yield node
    elif not isinstance(node, ast.ClassDef):
        for inner in inside(node):
            yield from functions(inner)


def calls(node: ast.AST) -> Iterator[ast.Call]:
    """The calls that a statement makes when it is executed, without those in functions that it defines."""
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.Call):
            yield inner
        if not isinstance(inner, Function | ast.Lambda):
            yield from calls(inner)


def value_of(node: ast.expr, namespace: Mapping[str, Any]) -> Any:
    """The value of a name, or of an attribute of a module; for attributes of other objects, the object itself."""
    if isinstance(node, ast.Attribute):
        owner = value_of(node.value, namespace)
        return getattr(owner, node.attr, None) if type(owner) is ModuleType else owner
    return namespace.get(node.id) if isinstance(node, ast.Name) else None


def defaults(function: Function) -> list[ast.expr]:
    """The default values of a function's parameters."""
    given = function.args
    return [one for one in (*given.defaults, *given.kw_defaults) if one is not None]


def without(node: ast.stmt, decorators: list[ast.expr], values: list[ast.expr]) -> ast.stmt:
    """A copy of a statement without some decorators, and with `...` for some default values."""
    if not decorators and not values:
        return node
    new = copy.copy(node)
    if isinstance(new, Function):
        new.decorator_list = [one for one in new.decorator_list if one not in decorators]
        new.args = copy.copy(new.args)
        new.args.defaults = [_or_dots(one, values) for one in new.args.defaults]
        new.args.kw_defaults = [one and _or_dots(one, values) for one in new.args.kw_defaults]
    elif not isinstance(new, ast.ClassDef):
        _without_inside(new, decorators, values)
    return new


def _without_inside(node: ast.AST, decorators: list[ast.expr], values: list[ast.expr]) -> None:
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        parts: list[ast.AST] = []
        for inner in getattr(node, field, ()):
            if isinstance(inner, ast.stmt):
                parts.append(without(inner, decorators, values))
            else:
                parts.append(copy.copy(inner))
                _without_inside(parts[-1], decorators, values)
        if parts:
            setattr(node, field, parts)


def _or_dots(node: ast.expr, values: list[ast.expr]) -> ast.expr:
    return ast.copy_location(ast.Constant(...), node) if node in values else node
