"""What Python asked of a run-time value: each question has another way out."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from flowdsl.mistakes.values import RunTimeCondition, RunTimeConversion

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.diagnostic import Diagnostic, Finding
    from flowdsl.places.source import Sources


def worded(one: Diagnostic, sources: Sources) -> Diagnostic:
    """A finding about the truth or the text of a value, with the question that its place shows; any other as it is."""
    if not isinstance(one.finding, (RunTimeCondition, RunTimeConversion)) or one.place is None:
        return one
    span = sources.resolve(one.place)
    file = None if span is None else sources.file(span.file)
    if span is None or file is None or file.tree is None:
        return one
    for node in ast.walk(file.tree):
        for part, asked in _questions(node):
            fits = (asked == "%") == isinstance(one.finding, RunTimeConversion)
            if fits and part.lineno == span.line and file.node(part)[1:] == span[1:]:
                return one._replace(finding=_asked(asked))
    return one


def _asked(question: str) -> Finding:
    return RunTimeConversion("formatted by %") if question == "%" else RunTimeCondition(question)


def _questions(node: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """The expressions whose truth or text a node asks for, as they are marked, each with the name of the question."""
    match node:
        case ast.If(test=test):
            yield test, "if"
        case ast.While(test=test):
            yield test, "while"
        case ast.Assert(test=test):
            yield test, "assert"
        case ast.IfExp(test=test):
            yield test, "choice"
        case ast.BoolOp(op=ast.And()):
            yield node, "and"
        case ast.BoolOp(op=ast.Or()):
            yield node, "or"
        case ast.UnaryOp(op=ast.Not()):
            yield node, "not"
        case ast.Compare(ops=[_, _, *_]):
            yield node, "chain"
        case ast.Compare(ops=[ast.In() | ast.NotIn()]):
            yield node, "in"
        case ast.Call(func=ast.Name("min" | "max" | "sorted" | "any" | "all")):
            yield node, "order"
        case ast.BinOp(op=ast.Mod()):
            yield node, "%"
        case ast.MatchValue(value=value):
            yield value, "match"
        case ast.match_case(guard=ast.expr() as test):
            yield test, "if"
        case ast.comprehension(ifs=tests):
            for test in tests:
                yield test, "filter"
        case _:
            return
