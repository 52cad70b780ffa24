"""Parses `where=`: the nodes on which a step may run.

    gpu.memory >= 40Gi and zone in (eu-1, eu-2) and not spot
    zone == eu-1 or (arch == arm64 and disk not in (hdd, tape))

A bare key requires that the label exists. `and` binds tighter than `or`, `not` tightest. Keys are label names with or
without a domain, or short names that the caller resolves. Values are bare words or quoted text.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import chain, product
from typing import TYPE_CHECKING, Literal

from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.lalr import MEANT, Lalr, behind
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.names import is_qualified_name
from flowdsl.grammar.quantity import quantity

if TYPE_CHECKING:
    from lark import Token, Tree

Operator = Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]

MOST_GROUPS = 64
"""The most alternatives that a text may expand to."""

MOST_DEPTH = 40
"""The maximum depth of parentheses and negations."""


class Term(NamedTuple):
    """One requirement of a node selector: key, operator and values as in Kubernetes, and its offsets.

    `Gt` and `Lt` carry one whole number as text. A limit with a suffix is in base units (`40Gi` is
    42949672960); a caller whose label has larger units rounds it down for Gt and up for Lt.
    Source: Kubernetes, NodeSelectorRequirement, which compares whole numbers only.
    """

    key: str
    operator: Operator
    values: tuple[str, ...]
    start: int
    end: int


Groups = tuple[tuple[Term, ...], ...]
"""Alternatives of terms that must all hold: the nodeSelectorTerms of Kubernetes."""


def where(text: str) -> Groups:
    """The text in disjunctive normal form, at most MOST_GROUPS groups. Raises GrammarError.

    `>=` and `<=` become Gt and Lt of the neighbouring whole number. `not` means every other node: a
    negated comparison is the opposite comparison or no such label, and NotIn accepts a node without
    the label, as Kubernetes does.
    """
    return _groups(_lalr().parse(text), text, positive=True, depth=0)


@cache
def _lalr() -> Lalr:
    return Lalr("where.lark", _instead, contextual=True)


def _instead(found: str, terminals: frozenset[str]) -> str:
    """What is allowed in place of `found`, given the terminals that the grammar would accept."""
    if found in MEANT or found == "[":
        return MEANT.get(found, "`(`")
    if f"_{found.upper()}" in terminals:
        return f"`{found.lower()}` in lower case"
    if terminals == frozenset(("LPAR",)):
        return "a list in parentheses, such as `(a, b)`"
    if terminals == frozenset(("_IN",)):
        return "`in`"
    if "STRING" in terminals:
        return "a value: a word, a number or quoted text"
    if "WORD" in terminals:
        return "a label such as `zone`, `not` or `(`"
    return behind(terminals)


def _groups(tree: Tree[Token], text: str, positive: bool, depth: int) -> Groups:
    """The groups of a tree, or of its negation."""
    if depth > MOST_DEPTH:
        start = tree.meta.start_pos
        raise GrammarError(text, start, tree.meta.end_pos, f"at most {MOST_DEPTH} nested parts")
    kind = tree.data
    if kind == "negated":
        return _groups(_trees(tree)[0], text, not positive, depth + 1)
    if kind not in ("either", "both"):
        return _term(tree, text, positive)
    parts = [_groups(child, text, positive, depth + 1) for child in _trees(tree)]
    alternatives = (kind == "either") == positive
    size = sum(map(len, parts)) if alternatives else math.prod(map(len, parts))
    if size > MOST_GROUPS:
        expected = f"at most {MOST_GROUPS} alternatives, not {size}; `in (...)` keeps alternatives together"
        raise GrammarError(text, tree.meta.start_pos, tree.meta.end_pos, expected)
    combined = chain(*parts) if alternatives else (tuple(chain(*choice)) for choice in product(*parts))
    groups: dict[frozenset[tuple[object, ...]], tuple[Term, ...]] = {}
    for group in combined:
        terms = {term[:3]: term for term in reversed(group)}
        groups.setdefault(frozenset(terms), tuple(reversed(terms.values())))
    return tuple(groups.values())


def _trees(tree: Tree[Token]) -> list[Tree[Token]]:
    from lark import Tree as LarkTree

    return [child for child in tree.children if isinstance(child, LarkTree)]


def _term(tree: Tree[Token], text: str, positive: bool) -> Groups:
    """The groups of one requirement: a single term, or two for a negated comparison."""
    key, *rest = tree.scan_values(lambda _: True)
    start, end = tree.meta.start_pos, tree.meta.end_pos
    if not is_qualified_name(key):
        expected = "a label name such as `zone` or `topology.kubernetes.io/zone`"
        raise GrammarError(text, start, start + len(key), expected)
    name = str(key)
    if tree.data == "exists":
        return ((Term(name, "Exists" if positive else "DoesNotExist", (), start, end),),)
    values = [token for token in rest if token.type in ("WORD", "STRING")]
    if tree.data != "compared":
        operator: Operator = "In" if (tree.data == "among") == positive else "NotIn"
        texts = dict.fromkeys(_value(token) for token in values)
        return ((Term(name, operator, tuple(texts), start, end),),)
    comparison = _comparison(name, str(rest[0]), values[0], text, positive)._replace(start=start, end=end)
    if positive:
        return ((comparison,),)
    return (comparison,), (Term(name, "DoesNotExist", (), start, end),)


def _comparison(key: str, sign: str, token: Token, text: str, positive: bool) -> Term:
    """The Gt or Lt on whole numbers that is equivalent to a comparison, or to its opposite."""
    try:
        limit = quantity(_value(token))
    except GrammarError as error:
        start = (token.start_pos or 0) + (token.type == "STRING")
        raise GrammarError(text, start + error.start, start + error.end, error.expected) from None
    if not positive:
        sign = {">": "<=", ">=": "<", "<": ">=", "<=": ">"}[sign]
    if sign == ">":
        return Term(key, "Gt", (str(math.floor(limit)),), 0, 0)
    if sign == ">=":
        return Term(key, "Gt", (str(math.ceil(limit) - 1),), 0, 0)
    if sign == "<":
        return Term(key, "Lt", (str(math.ceil(limit)),), 0, 0)
    return Term(key, "Lt", (str(math.floor(limit) + 1),), 0, 0)


def _value(token: Token) -> str:
    return str(token)[1:-1] if token.type == "STRING" else str(token)
