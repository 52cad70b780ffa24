"""Steps that can reach the end of their function without returning a result."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from flowdsl.compiler.checks.exits import has_several
from flowdsl.compiler.findings.bodies import EndsWithout
from flowdsl.diagnostic import Diagnostic
from flowdsl.values import types as t

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import CodeType

    from flowdsl.compiler.carry.carry import ModuleSource
    from flowdsl.compiler.carry.tree import Function
    from flowdsl.compiler.checks.body import Body
    from flowdsl.values.signature import Parameter

_LEAVES = frozenset(
    ("_exit", "abort", "assert_never", "execl", "execv", "execve", "execvp", "exit", "fail", "quit", "skip")
)
"""Functions that do not return, by name: of Python, test frameworks and command-line libraries."""

_NEVER = frozenset(("NoReturn", "Never"))
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def ends_without(body: Body, end: ast.stmt | None) -> Iterator[Diagnostic]:
    """The place where a step with a result may end without one, if there is one.

    Not if all values of a parameter are handled by cases, and not for a step with a decorator of the user, which
    may return another value, or with several processes, one of which returns the result.
    """
    step = body.step
    if end is None or step.plain is not step.function or has_several(body):
        return
    shown: ast.stmt | ast.expr
    match end:
        case ast.Return():
            shown, where = end, "here"
        case ast.If(shown):
            where = "where this does not hold,"
        case ast.Match(shown):
            where = "where no case fits,"
        case ast.For(_, shown) | ast.AsyncFor(_, shown) | ast.While(shown):
            where = "after the loop"
        case shown:
            where = "after this"
    if not _tells_apart(shown, body.node, step.signature.by_name):
        finding = EndsWithout(step.name, t.spell(step.signature.returns), where)
        yield Diagnostic(finding, body.module.span(shown))


def open_end(body: Body) -> ast.stmt | None:
    """A `return` without a value, or the statement after which a function ends; None if there is none."""
    bare = [one for one in body.returns if one.value is None]
    return min(bare, key=lambda one: one.lineno) if bare else _Flow(body.module).open_end(body.node.body)


def _tells_apart(asked: ast.stmt | ast.expr, node: Function, parameters: Mapping[str, Parameter]) -> bool:
    """Whether a condition is about a parameter whose values are all handled by cases in the function."""
    match asked:
        case (
            ast.Name(name)
            | ast.UnaryOp(ast.Not(), ast.Name(name))
            | ast.Compare(ast.Name(name), [ast.Eq() | ast.Is() | ast.In()])
        ) if name in parameters:
            kind = parameters[name].type
        case _:
            return False
    if isinstance(kind, t.Choice):
        count = len(kind.values)
    elif isinstance(kind, t.Enumeration):
        count = len(kind.cls)
    elif isinstance(kind, t.Flag):
        count = 2
    else:
        return False
    values: set[str] = set()
    for one in ast.walk(node):
        match one:
            case ast.If(ast.Name(other) | ast.UnaryOp(ast.Not(), ast.Name(other)) as test) if other == name:
                values.add(ast.dump(test))
            case ast.If(ast.Compare(ast.Name(other), [ast.Eq() | ast.Is()], [value])) if other == name:
                values.add(ast.dump(value))
            case ast.If(
                ast.Compare(
                    ast.Name(other), [ast.In()], [ast.Tuple(several) | ast.List(several) | ast.Set(several)]
                )
            ) if other == name:
                values.update(map(ast.dump, several))
            case ast.Match(ast.Name(other), cases) if other == name:
                patterns = (inner for case in cases for inner in ast.walk(case.pattern))
                values.update(
                    ast.dump(each)
                    for each in patterns
                    if isinstance(each, (ast.MatchValue, ast.MatchSingleton))
                )
            case _:
                pass
    return len(values) >= count


class _Flow:
    """Control flow: the statements after which execution continues."""

    def __init__(self, module: ModuleSource) -> None:
        self._module = module
        self._asked: dict[CodeType, bool] = {}

    def open_end(self, body: Sequence[ast.stmt]) -> ast.stmt | None:
        """The statement after which a block reaches its end; None if it never does."""
        end: ast.stmt | None = None
        for one in body:
            end = self._behind(one)
            if end is None:
                return None
        return end

    def _behind(self, node: ast.stmt) -> ast.stmt | None:
        """The innermost statement after which execution continues behind this one; None if it does not."""
        match node:
            case ast.Return() | ast.Raise() | ast.Continue() | ast.Break():
                return None
            case ast.If():
                return self._behind_branches(node)
            case ast.While(test, body, orelse):
                if _breaks(body):
                    return node
                if isinstance(test, ast.Constant) and test.value:
                    return None
                return self.open_end(orelse) if orelse else node
            case ast.For(orelse=orelse, body=body) | ast.AsyncFor(orelse=orelse, body=body):
                return self.open_end(orelse) if orelse and not _breaks(body) else node
            case ast.With(items, body) | ast.AsyncWith(items, body):
                return node if any(map(_suppresses, items)) else self.open_end(body)
            case ast.Try(body, handlers, orelse, last) | ast.TryStar(body, handlers, orelse, last):
                if last and self.open_end(last) is None:
                    return None
                inside = [[*body, *orelse], *(one.body for one in handlers)]
                return next((end for one in inside if (end := self.open_end(one)) is not None), None)
            case ast.Match(_, cases):
                ends = (end for one in cases if (end := self.open_end(one.body)) is not None)
                whole = any(one.guard is None and _takes_all(one.pattern) for one in cases)
                return next(ends, None if whole else node)
            case ast.Assert(ast.Constant(value)) if not value:
                return None
            case ast.Expr(ast.Call(function) | ast.Await(ast.Call(function))) if self._never_returns(
                function
            ):
                return None
            case _:
                return node

    def _behind_branches(self, node: ast.If) -> ast.stmt | None:
        """The same for an `if` with all of its `elif`, of which there may be many."""
        while True:
            end = self.open_end(node.body)
            if end is not None:
                return end
            match node.orelse:
                case []:
                    return node
                case [ast.If() as node]:
                    pass
                case _:
                    return self.open_end(node.orelse)

    def _never_returns(self, function: ast.expr) -> bool:
        """Whether a function exits, is annotated as `NoReturn` or `Never`, or only raises."""
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name in _LEAVES:
            return True
        target = self._module.namespace.get(name) if isinstance(function, ast.Name) else None
        code: CodeType | None = getattr(target, "__code__", None)
        node = None if code is None else self._module.file.function(code)
        if code is None or node is None:
            return False
        if code not in self._asked:
            self._asked[code] = False  # in case of recursion
            said = None if node.returns is None else ast.unparse(node.returns).rpartition(".")[2]
            returns = any(isinstance(one, ast.Return) for one in ast.walk(node))
            self._asked[code] = said in _NEVER or (not returns and self.open_end(node.body) is None)
        return self._asked[code]


def _suppresses(item: ast.withitem) -> bool:
    """Whether a context manager suppresses exceptions: `contextlib.suppress(...)`."""
    match item.context_expr:
        case ast.Call(ast.Name("suppress") | ast.Attribute(_, "suppress")):
            return True
        case _:
            return False


def _breaks(body: Sequence[ast.stmt]) -> bool:
    """Whether a loop with this body contains a `break` that ends it."""
    todo: list[ast.AST] = [*body]
    while todo:
        one = todo.pop()
        if isinstance(one, ast.Break):
            return True
        if isinstance(one, _LOOPS):
            todo.extend(one.orelse)
        elif isinstance(one, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            todo.extend(ast.iter_child_nodes(one))
    return False


def _takes_all(pattern: ast.pattern) -> bool:
    match pattern:
        case ast.MatchAs(None | ast.MatchAs(None)):
            return True
        case ast.MatchOr(patterns):
            return any(map(_takes_all, patterns))
        case _:
            return False
