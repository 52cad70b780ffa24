"""Where a step returns a path into a temporary folder that is removed when the step leaves its `with`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from flowdsl.compiler.checks.rooted import root
from flowdsl.compiler.findings.bodies import GoneWhenReturned
from flowdsl.diagnostic import Diagnostic, Related
from flowdsl.values import types as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.carry.module import ModuleSource
    from flowdsl.compiler.checks.variables import Variables
    from flowdsl.step import StepDef

_TEMPORARY = ("TemporaryDirectory", "NamedTemporaryFile")


def gone(
    step: StepDef, variables: Variables, module: ModuleSource, returned: list[ast.expr]
) -> Iterator[Diagnostic]:
    """The files among the results that are gone before they are handed on."""
    if not _has_files(step.signature.returns) or not {*_TEMPORARY} & {*step.code.co_names}:
        return
    made = {name: call for one in variables.of(ast.With) for name, call in _temporary(one)}
    for value in returned:
        for one in _parts(value):
            first = root(one, variables)
            if isinstance(first, ast.Attribute) and first.attr == "name":
                first = first.value
            if isinstance(first, ast.Name) and first.id in made and variables.times[first.id] == 1:
                related = Related(module.span(made[first.id]), "removed at the end of this `with`")
                yield Diagnostic(GoneWhenReturned(step.name, ast.unparse(one)), module.span(one), (related,))


def _temporary(node: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    for item in node.items if isinstance(node, ast.With) else ():
        match item.context_expr, item.optional_vars:
            case ast.Call(ast.Name(made) | ast.Attribute(attr=made)) as call, ast.Name(name):
                kept = any(one.arg is None or one.arg.startswith("delete") for one in call.keywords)
                if made in _TEMPORARY and not kept:
                    yield name, call
            case _:
                pass


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    """A returned expression, or what it is put together from."""
    match node:
        case ast.Tuple(items) | ast.List(items):
            for one in items:
                yield from _parts(one)
        case ast.Dict(_, values):
            for one in values:
                yield from _parts(one)
        case ast.Call(ast.Name(name), items, keywords) if name[:1].isupper() and name not in (
            "Path",
            "PurePath",
        ):
            for one in (*items, *(each.value for each in keywords)):
                yield from _parts(one)
        case _:
            yield node


def _has_files(kind: t.Type) -> bool:
    match kind:
        case t.File():
            return True
        case t.Maybe(item) | t.Sequence(item) | t.Mapping(item):
            return _has_files(item)
        case t.Fixed(items):
            return any(map(_has_files, items))
        case t.Record(_, fields):
            return any(_has_files(one.type) for one in fields)
        case _:
            return False
