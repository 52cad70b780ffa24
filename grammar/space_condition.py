"""Parses the condition under which a sweep searches a parameter: over the other parameters of the same point.

    layers > 3 and optimizer in (sgd, adam)
    augment or not (rate >= 1e-3)

A bare parameter name is a boolean parameter. `and` binds tighter than `or`, `not` tightest. Values are bare words or
quoted text, as in the search spaces of the command line.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.lalr import MEANT, Lalr, behind, kind_of, span
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.space import Value

if TYPE_CHECKING:
    from collections.abc import Iterator


class Compared(NamedTuple):
    """One comparison of a parameter with values, as written.

    The operator is `==`, `!=`, `<`, `<=`, `>`, `>=`, `in` or `not in`; empty for a boolean alone.
    """

    name: str
    sign: str
    values: tuple[Value, ...]
    text: str


class Negated(NamedTuple):
    """True if its operand is not."""

    part: Condition


class Joined(NamedTuple):
    """Conditions that are all true, or with `or` any of them."""

    word: str
    parts: tuple[Condition, ...]


Condition = Compared | Negated | Joined

MOST_DEPTH = 40
"""The maximum depth of parentheses and negations."""


def condition(text: str) -> Condition:
    """Parse a condition. Raises GrammarError."""
    return _read(_lalr().parse(text), text, 0)


def comparisons(tree: Condition) -> Iterator[Compared]:
    """The comparisons of a condition, in order."""
    if isinstance(tree, Compared):
        yield tree
        return
    for part in tree.parts if isinstance(tree, Joined) else (tree.part,):
        yield from comparisons(part)


def _read(tree: Any, text: str, depth: int) -> Condition:
    start, end = span(tree)
    if depth > MOST_DEPTH:
        raise GrammarError(text, start, end, f"at most {MOST_DEPTH} nested parts")
    kind = kind_of(tree)
    if kind in ("either", "both"):
        parts = tuple(_read(one, text, depth + 1) for one in tree.children)
        return Joined("or" if kind == "either" else "and", parts)
    if kind == "negated":
        return Negated(_read(tree.children[0], text, depth + 1))
    name, *rest = tree.children
    signs = {"among": "in", "not_among": "not in", "flag": ""}
    sign = signs[kind] if kind in signs else str(rest.pop(0))
    return Compared(str(name), sign, tuple(map(_value, rest)), text[start:end])


def _value(token: Any) -> Value:
    text = str(token)
    return Value(text, text[1:-1] if token.type == "STRING" else None)


@cache
def _lalr() -> Lalr:
    return Lalr("space_condition.lark", _instead, contextual=True)


def _instead(found: str, terminals: frozenset[str]) -> str:
    """What is allowed in place of `found`, given the terminals that the grammar would accept."""
    if found in MEANT:
        return MEANT[found]
    if "WORD" in terminals:
        return "a value: a word, a number or quoted text"
    if "NAME" in terminals:
        return "a parameter, which comes first, as in `layers > 3`; or `not`; or `(`"
    if terminals == frozenset(("_IN",)):
        return "`in`"
    if terminals == frozenset(("LPAR", "LSQB")):
        return "values in parentheses, such as `(2, 4)`"
    return behind(terminals)
