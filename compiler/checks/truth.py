"""Which question Python asked of a run-time value, so that the finding can name the right alternative."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from flowdsl.mistakes.values import RunTimeCondition, RunTimeConversion, RunTimeLoop

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.diagnostic import Diagnostic, Finding
    from flowdsl.places.source import Sources


def worded(one: Diagnostic, sources: Sources) -> Diagnostic:
    """A finding about a value that Python evaluated, with the question in its source; others are unchanged."""
    if not isinstance(one.finding, (RunTimeCondition, RunTimeConversion, RunTimeLoop)) or one.place is None:
        return one
    span = sources.resolve(one.place)
    file = None if span is None else sources.file(span.file)
    if span is None or file is None or file.tree is None:
        return one
    for node in ast.walk(file.tree):
        if isinstance(one.finding, RunTimeLoop):
            called = _called(node)
            if isinstance(node, ast.Call) and called and file.node(node)[1:] == span[1:]:
                return one._replace(finding=RunTimeLoop(one.finding.what, one.finding.type, called))
            continue
        for part, whole, asked in _questions(node):
            fits = (asked == "%") == isinstance(one.finding, RunTimeConversion)
            if fits and part.lineno == span.line and file.node(part)[1:] == span[1:]:
                return one._replace(finding=_asked(one.finding, asked), place=file.node(whole))
    return one


def _asked(finding: Finding, question: str) -> Finding:
    if not isinstance(finding, RunTimeCondition):
        return RunTimeConversion("formatted by %")
    return RunTimeCondition(question, finding.always)


def _questions(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr, str]]:
    """The expressions whose truth or text a node evaluates, each with the whole mistake, and the questions."""
    match node:
        case ast.If(test=test, body=[ast.Raise()]):
            for part in _operands(test):
                yield part, test, "assert"
        case ast.If(test=test) | ast.match_case(guard=ast.expr() as test):
            parts = [*_operands(test)]
            inverted = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
            words = ["unless" if inverted else "if", *map(_question, parts[inverted:])]
            for part in parts:
                yield part, test, ", ".join(filter(None, dict.fromkeys(words)))
        case ast.While(test=test) | ast.Assert(test=test) | ast.IfExp(test=test):
            for part in _operands(test):
                yield part, test, _TESTS[type(node)]
        case ast.MatchValue(value=value):
            yield value, value, "match"
        case ast.comprehension(ifs=tests):
            for test in tests:
                for part in _operands(test):
                    yield part, test, "filter"
        case ast.ListComp(generators=generators) | ast.SetComp(generators=generators):
            tests = [test for one in generators for test in one.ifs]
            if tests:
                yield node, tests[0], "filter"  # before Python 3.13 some tests have the position of all of it
        case ast.expr() if question := _question(node):
            yield node, node, question
        case _:
            return


_TESTS = {ast.While: "while", ast.Assert: "assert", ast.IfExp: "choice"}


_OF_ALL = frozenset(("all", "any", "len", "max", "min", "set", "sorted", "sum"))
"""Builtins that reduce all elements to one value."""


def _called(node: ast.AST) -> str:
    """The builtin that a call passes all elements to; nothing for any other node."""
    match node:
        case ast.Call(ast.Name(name), [_, *_]) if name in _OF_ALL:
            return name
        case ast.Call(ast.Attribute(ast.Constant(str()), "join")):
            return "join"
        case _:
            return ""


def _operands(test: ast.expr) -> Iterator[ast.expr]:
    """A test, and its operands of `and`, `or` and `not`: Python evaluates the truth of each."""
    yield test
    inner: list[ast.expr] = []
    if isinstance(test, ast.BoolOp):
        inner = test.values
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = [test.operand]
    for one in inner:
        yield from _operands(one)


def _question(node: ast.expr) -> str:
    """The question that an expression asks by itself; nothing if there is none."""
    match node:
        case ast.BoolOp(op=ast.And()):
            return "and"
        case ast.BoolOp(op=ast.Or()):
            return "or"
        case ast.UnaryOp(op=ast.Not()):
            return "not"
        case ast.Compare(ops=[_, _, *_]):
            return "chain"
        case ast.Compare(ops=[ast.In() | ast.NotIn()]):
            return "in"
        case ast.Call(func=ast.Name("bool")):
            return "bool"
        case ast.Call(args=[ast.Call(func=ast.Name("filter")), *_]):
            return "filter"
        case ast.Call(func=ast.Name("min" | "max" | "sorted" | "any" | "all")):
            return "order"
        case ast.BinOp(op=ast.Mod()):
            return "%"
        case _:
            return ""
