"""Returned files that do not exist any more, or never did: in a temporary folder, or never written."""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING

from flowdsl.compiler.checks.left_behind import BRINGS
from flowdsl.compiler.checks.paths import root, text_of
from flowdsl.compiler.checks.variables import Variables
from flowdsl.compiler.findings.bodies import GoneWhenReturned
from flowdsl.diagnostic import Diagnostic, Related
from flowdsl.grammar.regex import regex
from flowdsl.values import types as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.checks.body import Body

_NAMES_OF_ITS_OWN = regex("shelve|dbm|venv|compile|profile|archive")
"""Libraries and calls that write files by other names than those that they get."""
_TEMPORARY = ("TemporaryDirectory", "NamedTemporaryFile")


def gone(body: Body) -> Iterator[Diagnostic]:
    """Files among the results that are deleted before they are stored."""
    step = body.step
    if not t.holds_file(step.signature.returns) or not {*_TEMPORARY} & {*step.code.co_names}:
        return
    made = {name: call for one in body.variables.of(ast.With) for name, call in _temporary(one)}
    for value in body.returned:
        for one in parts(value):
            first = root(one, body.variables)
            if isinstance(first, ast.Attribute) and first.attr == "name":
                first = first.value
            if isinstance(first, ast.Name) and first.id in made and body.variables.times[first.id] == 1:
                related = Related(body.module.span(made[first.id]), "removed at the end of this `with`")
                yield Diagnostic(
                    GoneWhenReturned(step.name, ast.unparse(one)), body.module.span(one), (related,)
                )


def unwritten(body: Body, text: str) -> Iterator[tuple[ast.expr, GoneWhenReturned]]:
    """Files among the results that nothing in the script mentions, except where they are returned.

    The script writes others, and uses only standard modules, which write nothing but the files they are told.
    """
    paths = [*body.variables.writes.values()]
    if not paths or len(body.returned) != 1:
        return  # one that writes nothing is unfinished
    if BRINGS.search(text) or _NAMES_OF_ITS_OWN.search(text):
        return
    written = [text_of(path, body.variables) for path in paths]
    if not all(written) or len(written) != len(Variables(ast.parse(text).body).writes):
        return
    loads = Counter(one.id for one in body.variables.of(ast.Name) if isinstance(one.ctx, ast.Load))
    for one in parts(body.returned[0]):
        path = text_of(one, body.variables) if body.evident.of(one) == "Path" else ""
        alone = not isinstance(one, ast.Name) or loads[one.id] == 1
        once = sum(text.count(f"{quote}{path}{end}") for quote in "'\"" for end in (quote, "/")) == 1
        if path and alone and once and path[:1] not in "/~." and path not in written:
            other = f"Path({written[0]!r})" if len(written) == 1 and "/" not in written[0] else ""
            yield one, GoneWhenReturned(body.step.name, ast.unparse(one), other, removed=False)


def _temporary(node: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    for item in node.items if isinstance(node, ast.With) else ():
        match item.context_expr, item.optional_vars:
            case ast.Call(ast.Name(made) | ast.Attribute(attr=made)) as call, ast.Name(name):
                kept = any(one.arg is None or one.arg.startswith("delete") for one in call.keywords)
                if made in _TEMPORARY and not kept:
                    yield name, call
            case _:
                pass


def parts(node: ast.expr) -> Iterator[ast.expr]:
    """A returned expression, or its parts."""
    match node:
        case ast.Tuple(items) | ast.List(items):
            for one in items:
                yield from parts(one)
        case ast.Dict(_, values):
            for one in values:
                yield from parts(one)
        case ast.Call(ast.Name(name), items, keywords) if name[:1].isupper() and name not in (
            "Path",
            "PurePath",
        ):
            for one in (*items, *(each.value for each in keywords)):
                yield from parts(one)
        case _:
            yield node
