"""Texts with run-time values that Python compares at compile time, when they hold placeholders."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from flowdsl.compiler.carry.tree import Function
from flowdsl.compiler.checks.identity import nodes_of
from flowdsl.diagnostic import Diagnostic
from flowdsl.grammar.named import NamedTuple
from flowdsl.mistakes.texts import TextCompared
from flowdsl.places.locate import extent_of
from flowdsl.places.place import Extent, extent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import CodeType

    from flowdsl.places.place import Site
    from flowdsl.places.source import Sources
    from flowdsl.tracing.trace import Trace

_COMPARED = ("COMPARE_OP", "CONTAINS_OP", "MATCH_KEYS", "MATCH_MAPPING")
_ANSWERED = {"startswith", "endswith", "find", "rfind", "index", "count"} | {
    f"is{one}"
    for one in ("alnum", "alpha", "ascii", "decimal", "digit", "lower", "numeric", "space", "upper")
}
"""The methods of a text that test it or search in it."""
_KEPT = {"str", "format", "repr", "len"}
"""The functions whose result depends only on their argument, and so on a placeholder in it."""


class _Made(NamedTuple):
    """The place where a run-time value was inserted into a text, and whether flowdsl saw that text later."""

    extent: Extent
    arrived: bool


def compared_texts(trace: Trace, sources: Sources) -> Iterator[Diagnostic]:
    """Comparisons of texts that contain a run-time value: Python evaluates them at compile time.

    Not those with a run-time value on the other side: Argo evaluates them.
    """
    # Python executes the places in a loop many times.
    sites: dict[tuple[int, int], tuple[Site, bool]] = {}
    named = ((one, True) for one in trace.named)
    for site, arrived in (*((one.site, at in trace.arrived) for at, one in enumerate(trace.tokens)), *named):
        _, before = sites.get((id(site.code), site.lasti), (site, True))
        sites[id(site.code), site.lasti] = site, arrived and before
    made: dict[str, list[_Made]] = {}
    asking: dict[int, bool] = {}
    for site, arrived in sites.values():
        code = site.code
        if id(code) not in asking:
            asking[id(code)] = _asks(code)
        found = extent(site) if asking[id(code)] else None
        if found is not None:
            line, column, end_line, end_column = found
            part = _Made(Extent(line, end_line, column, end_column), arrived)
            made.setdefault(code.co_filename, []).append(part)
    for name, parts in made.items():
        file = sources.file(name)
        for node in ast.walk(file.tree) if file is not None and file.tree is not None else ():
            if file is not None and isinstance(node, Function):
                inside = [one for one in parts if _within(one.extent, node)]
                for question in _Texts(node, inside).questions() if inside else ():
                    yield Diagnostic(TextCompared(ast.unparse(question)), file.node(question))


def _asks(code: CodeType) -> bool:
    """Whether code contains any comparison."""
    import dis

    return not _ANSWERED.isdisjoint(code.co_names) or any(
        one.opname in _COMPARED for one in dis.get_instructions(code)
    )


class _Texts:
    """The texts of a function, with the run-time values that it inserts into them."""

    def __init__(self, function: Function, made: Iterable[_Made]) -> None:
        self._nodes = list(nodes_of(function))
        self._once = _assigned_once(self._nodes)
        self._made = made

    def questions(self) -> Iterator[ast.expr]:
        """The operations whose result depends on a text with a run-time value in it."""
        for node in self._nodes:
            match node:
                case ast.Compare(left=left, comparators=others):
                    found = [one for side in (left, *others) for one in self._inserted(side)]
                    arrived = all(one.arrived for one in found)
                    if found and (not arrived or all(map(self._is_known, (left, *others)))):
                        yield node
                case ast.Match(subject=subject):
                    if any(self._inserted(subject)):
                        yield subject
                case ast.Call(func=ast.Attribute(value=inner, attr=word)) if word in _ANSWERED:
                    if any(self._inserted(inner)):
                        yield node
                case _:
                    pass

    def _inserted(self, node: ast.expr) -> Iterator[_Made]:
        """The run-time values in a text, or in its parts."""
        match node:
            case ast.JoinedStr():
                yield from (one for one in self._made if _within(one.extent, node))
            case ast.Call(func=ast.Name(word), args=[inner]) if word in _KEPT:
                yield from self._inserted(inner)
                yield from self._filled(node)
            case ast.Call(func=ast.Attribute(value=inner)):
                yield from self._inserted(inner)
                yield from self._filled(node)
            case ast.BinOp(op=ast.Mod()):
                yield from self._filled(node)
            case ast.Subscript(value=inner):
                yield from self._inserted(inner)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                yield from self._inserted(left)
                yield from self._inserted(right)
            case ast.Name(name) if name in self._once:
                yield from self._inserted(self._once[name])
            case _:
                pass

    def _filled(self, node: ast.expr) -> Iterator[_Made]:
        """The run-time values that this operation inserts, as `"{}".format(value)` and `"%s" % value` do."""
        return (one for one in self._made if one.extent == extent_of(node))

    def _is_known(self, node: ast.expr) -> bool:
        """Whether a value is certainly no run-time value, apart from texts that contain one."""
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            return all(map(self._is_known, node.elts))
        return isinstance(node, ast.Constant) or any(self._inserted(node))


def _assigned_once(nodes: Iterable[ast.AST]) -> dict[str, ast.expr]:
    """The variables that are assigned in one statement only, and their values."""
    stores: dict[str, int] = {}
    values: dict[str, ast.expr] = {}
    for node in nodes:
        match node:
            case ast.Name(name, ctx=ast.Store()):
                stores[name] = stores.get(name, 0) + 1
            case (
                ast.Assign(targets=[ast.Name(name)], value=ast.expr() as given)
                | ast.AnnAssign(target=ast.Name(name), value=ast.expr() as given)
                | ast.NamedExpr(target=ast.Name(name), value=given)
            ):
                values[name] = given
            case _:
                pass
    return {name: given for name, given in values.items() if stores[name] == 1}


def _within(part: Extent, whole: ast.expr | Function) -> bool:
    around = extent_of(whole)
    return (around.line, around.column) <= (part.line, part.column) and (part.end_line, part.end_column) <= (
        around.end_line,
        around.end_column,
    )
