"""For which statuses of its task, step or run the expression of a hook can be true."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from flowdsl.compiler.tree import string
from flowdsl.grammar import expression_tree as t
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.expression import parse
from flowdsl.grammar.logic import all_hold, any_holds, negated
from flowdsl.grammar.template import masked

if TYPE_CHECKING:
    from flowdsl.compiler.tree import Object

_Known = dict[tuple[str, ...], str]

ENDS = ("Succeeded", "Failed", "Error")


def may_begin(hook: Object, of: tuple[str, ...], *statuses: str) -> bool:
    """Whether a hook may start while the variable `of` is one of these statuses; others may be anything."""
    node = _parsed(string(hook, "expression"))
    return node is not None and any(_held(node, {of: status}) is not False for status in statuses)


@lru_cache(maxsize=256)
def _parsed(text: str) -> t.Node | None:
    try:
        return parse(masked(text))
    except GrammarError:
        return None


def _held(node: t.Node, known: _Known) -> bool | None:
    """Whether an expression is true."""
    match node:
        case t.Literal(value=bool() as value):
            return value
        case t.Unary("!", operand):
            return negated(_held(operand, known))
        case t.Binary("&&", left, right):
            return all_hold(_held(left, known), _held(right, known))
        case t.Binary("||", left, right):
            return any_holds(_held(left, known), _held(right, known))
        case t.Binary("==", left, right):
            return _same(left, right, known)
        case t.Binary("!=", left, right):
            return negated(_same(left, right, known))
        case t.Binary("in", left, t.Items(items)):
            return any_holds(*(_same(left, each, known) for each in items))
        case _:
            return None


def _same(left: t.Node, right: t.Node, known: _Known) -> bool | None:
    """Whether two texts are equal."""
    found = _text(left, known), _text(right, known)
    return None if None in found else found[0] == found[1]


def _text(node: t.Node, known: _Known) -> str | None:
    if isinstance(node, t.Literal):
        return node.value if isinstance(node.value, str) else None
    return known.get(t.path(node) or ())
