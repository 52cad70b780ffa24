"""Questions that Python answers without asking the stand-in of a value: `is None`, `match`, `isinstance`.

Python decides these by itself, so the body is searched for them, with what its names meant when it ended.
"""

from __future__ import annotations

import ast
import enum
from typing import TYPE_CHECKING, Any, cast

from flowdsl.compiler.carry.tree import Assignment, Function, names_in, touched
from flowdsl.compiler.findings.branches import IsNone
from flowdsl.diagnostic import Diagnostic
from flowdsl.mistakes.values import RunTimeIdentity, RunTimeKind
from flowdsl.pipeline import Pipeline
from flowdsl.places.place import Span
from flowdsl.step import Step
from flowdsl.tracing.trace import OutsidePipeline
from flowdsl.values import types as t
from flowdsl.values.expr import Param, Poison
from flowdsl.values.value import expr_of, is_value, value

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Set

    from flowdsl.diagnostic import Finding
    from flowdsl.places.source import SourceFile, Sources
    from flowdsl.tracing.trace import Graph

_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_CHOICES = (ast.If, ast.IfExp)
_BLIND = (ast.MatchSingleton, ast.MatchSequence, ast.MatchMapping)


def unseen_questions(graph: Graph, sources: Sources) -> Iterator[Diagnostic]:
    """`is`, `match` and `isinstance` on run-time values where Python may give another answer than the run."""
    told: set[Span] = set()
    for code, names in graph.locals:
        file = sources.file(code.co_filename)
        function = None if file is None else file.function(code)
        if file is None or function is None:
            continue
        body = _Body(function, names)
        for node in body.nodes:
            finding = body.question(node)
            span = file.node(node.subject if isinstance(node, ast.Match) else node)
            if finding is not None and span not in told:
                told.add(span)
                yield Diagnostic(finding, span)


def choices(found: Iterable[Diagnostic], sources: Sources) -> Iterator[Span]:
    """Each `a if ... else b` whose condition is one of the findings, and each use of a variable that depends on one."""
    asked = {one.place for one in found if isinstance(one.finding, (IsNone, RunTimeIdentity, RunTimeKind))}
    for name in {one.file for one in asked if isinstance(one, Span)}:
        file = sources.file(name)
        if file is None or file.tree is None:
            continue
        for function in ast.walk(file.tree):
            if isinstance(function, Function):
                nodes = [*nodes_of(function)]
                chosen = {one for one in nodes if isinstance(one, _CHOICES) and _asks(one.test, asked, file)}
                names = {name for one in nodes for name in _dependent(one, chosen)}
                yield from (file.node(one) for one in chosen if isinstance(one, ast.IfExp))
                yield from (file.node(one) for one in nodes if isinstance(one, ast.Name) and one.id in names)


def _asks(test: ast.expr, asked: Collection[object], file: SourceFile) -> bool:
    """Whether a condition contains one of the questions."""
    return any(file.node(part) in asked for part in ast.walk(test) if isinstance(part, ast.expr))


def _dependent(node: ast.AST, chosen: Set[ast.AST]) -> Iterator[str]:
    """The variables whose values depend on a choice: those of its condition, and those that are set by it."""
    if node in chosen and isinstance(node, _CHOICES):
        yield from names_in(node.test)
    if isinstance(node, ast.If) and node in chosen:
        yield from (name for one in (*node.body, *node.orelse) for name, _ in touched(one))
    if isinstance(node, Assignment) and not chosen.isdisjoint(ast.walk(node)):
        yield from (name for name, _ in touched(node))


class _Body:
    """A function that ran, and the values of its names when it ended."""

    def __init__(self, function: Function, names: Mapping[str, Any]) -> None:
        self.names = names
        self.nodes: list[ast.Compare | ast.Match | ast.Call] = []
        self.iterables: dict[str, ast.expr] = {}  # by the variable of the comprehension
        self.reset: set[str] = set()  # names that may be None
        for parameter, default in _defaults(function):
            if _is_none(default):
                self.reset.add(parameter)
        for node in nodes_of(function):
            match node:
                case ast.Compare() | ast.Match() | ast.Call():
                    self.nodes.append(node)
                case ast.comprehension(target=ast.Name(name), iter=iterable):
                    self.iterables[name] = iterable
                case ast.Assign(targets=[*_, ast.Name(name)], value=given) if _is_none(given):
                    self.reset.add(name)
                case ast.AnnAssign(target=ast.Name(name), value=given) if _is_none(given):
                    self.reset.add(name)
                case _:
                    pass

    def question(self, node: ast.Compare | ast.Match | ast.Call) -> Finding | None:
        """The finding about a comparison, `match` or call that depends on a run-time value."""
        match node:
            case ast.Compare(left, [ast.Is() | ast.IsNot()], [right]):
                return self._identity(node, left, right)
            case ast.Match(subject, cases):
                kinds = self._kinds(subject)
                parts = [part for case in cases for part in ast.walk(case.pattern)]
                blind = any(isinstance(part, _BLIND) for part in parts)
                classes = any(isinstance(part, ast.MatchClass) for part in parts)
                for kind in kinds:
                    if blind or (classes and _open(kind)):
                        return RunTimeKind(t.spell(kind))
            case ast.Call(ast.Name("isinstance"), [asked, _]):
                for kind in self._kinds(asked):
                    if _open(kind):
                        return RunTimeKind(t.spell(kind))
            case _:
                pass
        return None

    def _identity(self, node: ast.Compare, left: ast.expr, right: ast.expr) -> Finding | None:
        kinds = [*self._kinds(left), *self._kinds(right)]
        if not kinds:
            return None
        if not (_is_none(left) or _is_none(right)):
            # A run-time value is never an object of the user, such as the default of a parameter.
            both = self._equal_by_value(left) and self._equal_by_value(right)
            return RunTimeIdentity(ast.unparse(node)) if both else None
        # `if corpus is None: corpus = load()` tests a variable that is initially None, which is valid.
        asked = right if _is_none(left) else left
        if isinstance(asked, ast.Name) and asked.id in self.reset and not any(map(_open, kinds)):
            return None
        operator = "==" if isinstance(node.ops[0], ast.Is) else "!="
        files = any(isinstance(kind, t.Maybe) and t.holds_file(kind) for kind in kinds)
        return IsNone(ast.unparse(node), operator, files, not any(map(t.without_default, kinds)))

    def _equal_by_value(self, node: ast.expr) -> bool:
        """Whether the value of an expression may be equal by `==` to another object."""
        found = (is_value(one) or isinstance(one, (enum.Enum, str, int, float)) for one in self._values(node))
        return isinstance(node, ast.Constant) or any(found)

    def _kinds(self, node: ast.expr) -> list[t.Type]:
        """The types of the run-time values that an expression may be."""
        exprs = [expr_of(one) for one in self._values(node) if is_value(one)]
        return [expr.type for expr in exprs if not isinstance(expr, Poison)]

    def _values(self, node: ast.expr) -> list[Any]:
        """The values of an expression at the end of the function; empty if they are not obvious."""
        match node:
            case ast.Name(name) if name in self.names:
                return [self.names[name]]
            case ast.Name(name) if name in self.iterables:
                return self._elements(self.iterables[name])
            case ast.NamedExpr(target):
                return self._values(target)
            case ast.IfExp(_, body, orelse):
                return [*self._values(body), *self._values(orelse)]
            case ast.Attribute(inner, name):
                return [_taken(one, name) for one in self._values(inner)]
            case ast.Subscript(inner, ast.Constant(key)):
                return [_taken(one, None, key) for one in self._values(inner)]
            case ast.Call(ast.Call(ast.Attribute(inner, "options"))) | ast.Call(inner):
                steps = [one for one in self._values(inner) if type(one) in (Step, Pipeline)]
                return [value(Param("", one._definition.signature.returns)) for one in steps]
            case _:
                return []

    def _elements(self, iterable: ast.expr) -> list[Any]:
        if isinstance(iterable, (ast.Tuple, ast.List)):
            return [one for element in iterable.elts for one in self._values(element)]
        return [one for found in self._values(iterable) if type(found) in (list, tuple) for one in found]


def _open(kind: t.Type) -> bool:
    """Whether a value of the type may be None, or has an unknown type."""
    return isinstance(kind, (t.Maybe, t.Json, t.Nothing))


def _taken(thing: Any, name: str | None, key: Any = None) -> Any:
    """A field or element of a run-time value, or of a container of some."""
    try:
        if name is None:
            return thing[key] if is_value(thing) or type(thing) in (list, tuple, dict) else None
        kind = t.describe(cast("object", thing if isinstance(thing, type) else type(thing)))
        holds = is_value(thing) or isinstance(kind, (t.Record, t.Enumeration))
        return getattr(thing, name) if holds else None
    except (OutsidePipeline, LookupError, TypeError, AttributeError):
        return None


def _is_none(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def nodes_of(function: Function) -> Iterator[ast.AST]:
    """All nodes of a function's own body, without those of nested functions."""
    todo: list[ast.AST] = [*function.body]
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, _NESTED):
            todo.extend(ast.iter_child_nodes(node))


def _defaults(function: Function) -> Iterator[tuple[str, ast.expr | None]]:
    names = function.args
    plain = [*names.posonlyargs, *names.args]
    yield from zip(
        (one.arg for one in plain[len(plain) - len(names.defaults) :]), names.defaults, strict=True
    )
    yield from zip((one.arg for one in names.kwonlyargs), names.kw_defaults, strict=True)
