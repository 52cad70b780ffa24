"""Finds the piece of a syntax tree that an instruction was compiled from, and the parts of a definition."""

from __future__ import annotations

import ast
import re
from functools import cached_property
from typing import TYPE_CHECKING

from flowdsl.grammar.named import NamedTuple
from flowdsl.places.place import Extent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import CodeType

    from flowdsl.places.place import Argument, Position

Function = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Wide = (ast.If | ast.While | ast.IfExp | ast.Assert | ast.For | ast.With) | (
    ast.JoinedStr | ast.FormattedValue | Comprehension
)
Node = ast.expr | ast.stmt | ast.keyword | ast.arg

_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)  # they contain no statements
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_WORD = re.compile(r"(\w+)")
_DEFINED = re.compile(r"(?:async(?:\s|\\\n)+)?def(?:\s|\\\n)+(\w+)")


class Piece(NamedTuple):
    """A range of text; or, of a range that starts like `word`, the word itself."""

    extent: Extent
    word: re.Pattern[str] | None = None


class Index:
    """The syntax tree of one file, with tables for finding places, each built on first use."""

    def __init__(self, tree: ast.Module, text: str) -> None:
        self._tree = tree
        self._text = text

    def part(self, whole: Extent, scope: str, hole: int | None = None) -> Extent:
        """The part that an instruction was compiled from; `scope` is the name of its code object.

        `hole`: for an instruction that formats a value of an f-string, the number of those of the same extent before.
        Python 3.11 and 3.12 record the whole `if`, `for`, `with`, f-string or comprehension where
        3.13 records the condition or the source. Here all versions agree, except in the condition of a
        comprehension, where 3.11 keeps the whole.
        """
        node = self._nodes.get(whole)
        part = None if node is None else _narrowed(node, scope)
        if isinstance(node, ast.JoinedStr) and hole is not None and (holes := _holes(node)):
            part = holes[hole % len(holes)].value  # the code of a `finally` exists twice
        return whole if part is None else extent_of(part)

    def argument(self, call: Extent, place: Argument) -> Piece | None:
        """An argument as written in the call, or None if it cannot be determined.

        The keyword of that name; else the position, if no argument is starred and the call has as many
        positional arguments as arrived (a `functools.partial` brings its own).
        """
        node = self._nodes.get(call)
        if not isinstance(node, ast.Call):
            return None
        for keyword in node.keywords:
            if place.name is not None and keyword.arg == place.name:
                return (
                    Piece(extent_of(keyword), _WORD)
                    if place.part == "name"
                    else _inner(keyword.value, place.part, place.path)
                )
        starred = any(isinstance(given, ast.Starred) for given in node.args)
        if place.position is None or starred or place.arrived not in (None, len(node.args)):
            return None
        given = node.args[place.position] if place.position < len(node.args) else None
        return None if given is None else _inner(given, place.part, place.path)

    def definition(self, code: CodeType, name: str | None = None, part: str = "name") -> Piece | None:
        """A function's definition or a part of it; name and part as in `flowdsl.places.place.Definition`."""
        node = self.function(code)
        if node is None or name is None:
            return None if node is None else named(node)
        found: Node | None
        if name == "return":
            value = None if part in ("name", "annotation") else _returned(node)
            if value is not None:
                return _inner(value, part)
            found = node.returns
        else:
            parameter, default = next((one for one in _parameters(node) if one[0].arg == name), (None, None))
            if parameter is not None and part == "name":
                return Piece(extent_of(parameter), _WORD)
            found = {"default": default, "annotation": parameter and parameter.annotation}.get(
                part, parameter
            )
        return None if found is None else Piece(extent_of(found))

    def function(self, code: CodeType) -> Function | None:
        """The definition of a function, by its code."""
        return self._functions.get((code.co_firstlineno, code.co_name))

    def assigned(self, call: Position) -> str | None:
        """The variable that the result of a call is assigned to, if it is a single plain name."""
        return self._assignments.get(call)

    def called_on(self, line: int) -> list[Extent]:
        """The calls that Python records at a line, in order of execution."""
        return self._calls.get(line, [])

    @cached_property
    def _nodes(self) -> dict[Extent, ast.Call | Wide]:
        found: dict[Extent, ast.Call | Wide] = {}
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Call):
                for extent in _recorded(node):
                    found[extent] = node
            elif isinstance(node, Wide):
                # 3.11 gives the values of an f-string the extent of the string, which comes first.
                found.setdefault(extent_of(node), node)
        return found

    @cached_property
    def _assignments(self) -> dict[Position, str]:
        found: dict[Position, str] = {}
        nodes: Iterable[ast.AST] = self._statements if ":=" not in self._text else ast.walk(self._tree)
        for node in nodes:
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                target = node.targets[0]
            elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
                target = node.target
            else:
                continue
            for name, call in _assigned(target, node.value):
                found[call.lineno, call.end_lineno, call.col_offset, call.end_col_offset] = name
                if isinstance(call.func, ast.Attribute):
                    found.update(dict.fromkeys(_recorded(call), name))
        return found

    @cached_property
    def _calls(self) -> dict[int, list[Extent]]:
        found: dict[int, list[Extent]] = {}
        for call in _in_order(self._tree):
            extent = _recorded(call)[-1]
            found.setdefault(extent.line, []).append(extent)
        return found

    @cached_property
    def _functions(self) -> dict[tuple[int, str], Function]:
        """By first line and name of the code; the line is that of the first decorator."""
        return {
            (node.decorator_list[0].lineno if node.decorator_list else node.lineno, node.name): node
            for node in self._statements
            if isinstance(node, Function)
        }

    @cached_property
    def _statements(self) -> list[ast.stmt]:
        """All statements; their expressions are not searched."""
        found: list[ast.stmt] = []
        todo: list[ast.stmt | ast.ExceptHandler | ast.match_case] = [*self._tree.body]
        while todo:
            statement = todo.pop()
            if isinstance(statement, ast.stmt):
                found.append(statement)
            if isinstance(statement, _SIMPLE):
                continue
            for name in statement._fields:
                if name in ("body", "orelse", "finalbody", "handlers", "cases"):
                    todo += getattr(statement, name)
        return found


def _assigned(target: ast.expr, value: ast.expr | None) -> list[tuple[str, ast.Call]]:
    """The calls of an assignment with the variables that their results are assigned to, also in `x, y = f(), g()`."""
    if isinstance(target, ast.Name):
        return [(target.id, value)] if isinstance(value, ast.Call) else []
    if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)):
        starred = any(isinstance(one, ast.Starred) for one in (*target.elts, *value.elts))
        if not starred and len(target.elts) == len(value.elts):
            pairs = zip(target.elts, value.elts, strict=True)
            return [found for one, its in pairs for found in _assigned(one, its)]
    return []


def _in_order(tree: ast.AST) -> list[ast.Call]:
    """The calls in a tree, arguments before the call that gets them; not those in a lambda."""
    found: list[ast.Call] = []
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Call):
            found.append(node)
        if not isinstance(node, ast.Lambda):
            todo += ast.iter_child_nodes(node)
    return found[::-1]


def _returned(function: Function) -> ast.expr | None:
    """The returned expression of a function, if it has a single `return` statement of its own."""
    found: list[ast.expr | None] = []
    todo: list[ast.AST] = [*function.body]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Return):
            found.append(node.value)
        elif isinstance(node, (ast.stmt, ast.ExceptHandler, ast.match_case)) and not isinstance(
            node, _SCOPES
        ):
            todo += ast.iter_child_nodes(node)
    return found[0] if len(found) == 1 else None


def named(function: Function) -> Piece:
    """The name in the `def` line of a function."""
    return Piece(extent_of(function), _DEFINED)


def extent_of(node: Node) -> Extent:
    """The extent of a node."""
    end_line = node.lineno if node.end_lineno is None else node.end_lineno
    end_column = node.col_offset if node.end_col_offset is None else node.end_col_offset
    return Extent(node.lineno, end_line, node.col_offset, end_column)


def _recorded(call: ast.Call) -> tuple[Extent, ...]:
    """The extents that Python may record for a call.

    The second one is that of a method call over several lines, which starts at the method's name
    (`update_start_location_to_match_attr` in CPython's compiler, where the name is counted in characters).
    """
    whole = extent_of(call)
    method = call.func
    if not isinstance(method, ast.Attribute) or method.end_lineno == method.lineno:
        return (whole,)
    _, line, _, end = extent_of(method)
    return (whole, whole._replace(line=line, column=end - len(method.attr)))


def _narrowed(node: ast.Call | Wide, scope: str) -> ast.expr | None:
    match node:
        case ast.If(test=part) | ast.While(test=part) | ast.IfExp(test=part) | ast.Assert(test=part):
            # `not` in a condition is not a separate instruction, and 3.12 records its operand.
            while isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not):
                part = part.operand
            return part
        case ast.For(iter=part) | ast.With(items=[ast.withitem(context_expr=part)]):
            return part
        case ast.FormattedValue(value=part):
            return part
        case ast.JoinedStr(values=parts):
            holes = [part for part in parts if isinstance(part, ast.FormattedValue)]
            return holes[0].value if len(holes) == 1 else None
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            first = node.generators[0]
            inside = scope in ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
            certain = not inside or (len(node.generators) == 1 and not first.ifs)
            return first.iter if certain else None
        case _:
            return None


def _holes(text: ast.JoinedStr) -> list[ast.FormattedValue]:
    """The values of an f-string in the order of formatting: those in a format spec before the value that it formats."""
    found: list[ast.FormattedValue] = []
    for part in text.values:
        if isinstance(part, ast.FormattedValue):
            if isinstance(part.format_spec, ast.JoinedStr):
                found += _holes(part.format_spec)
            found.append(part)
    return found


def _inner(value: ast.expr, part: str, path: tuple[str | int, ...] = ()) -> Piece:
    """The key or item that a part `key:NAME` or `item:NAME` denotes, or the part `key` or another at a path."""
    what, _, name = part.partition(":")
    steps = (name, *path) if name else path
    for left, step in zip(range(len(steps), 0, -1), steps, strict=True):
        entry = _entry(value, step)
        if entry is None:
            break
        key, value = entry
        if left == 1 and what == "key" and key is not None:
            return key
    return Piece(extent_of(value))


def _entry(value: ast.expr, name: str | int) -> tuple[Piece | None, ast.expr] | None:
    """The key and the value of an entry of a dict, of a call with keywords, of a list; None if it is not visible."""
    if isinstance(value, ast.Dict):
        for key, item in zip(value.keys, value.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == name:
                return Piece(extent_of(key)), item
    if isinstance(value, ast.Call):
        for keyword in value.keywords:
            if keyword.arg == name:
                return Piece(extent_of(keyword), _WORD), keyword.value
    if isinstance(value, ast.BinOp):
        return _entry(value.left, name)  # a folder of a source: `Git(...) / "src"`
    if isinstance(value, (ast.List, ast.Tuple)) and str(name).isdecimal():
        name = int(name)
        starred = any(isinstance(one, ast.Starred) for one in value.elts)
        return (None, value.elts[name]) if name < len(value.elts) and not starred else None
    return None


def _parameters(function: Function) -> Iterator[tuple[ast.arg, ast.expr | None]]:
    """The parameters in a signature with their defaults, including starred ones."""
    names = function.args
    plain = [*names.posonlyargs, *names.args]
    yield from zip(plain, (*(None for _ in plain[len(names.defaults) :]), *names.defaults), strict=True)
    yield from zip(names.kwonlyargs, names.kw_defaults, strict=True)
    yield from ((star, None) for star in (names.vararg, names.kwarg) if star is not None)
