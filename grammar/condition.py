"""Parses conditions on a Kubernetes object: `status.succeeded == 4, status.phase notin (Failed, Unknown)`.

Argo parses the conditions of a `resource` template as Kubernetes label selectors, and looks each key up as a path
in the object. Sources: Argo Workflows, workflow/executor/resource.go; k8s.io/apimachinery, labels.Parse.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.lalr import Lalr, kind_of, span
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.names import DNS_LABEL_LENGTH, is_label_value, is_qualified_name
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Sequence

_WORD = r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?"
_ONE = rf"({_WORD})\s*(?:(==|!=|=)\s*({_WORD})|([<>])\s*([0-9]+))"
_USUAL = regex(rf"{_ONE}(?:\s*,\s*{_ONE})*")
_USUAL_ONE = regex(_ONE)


class Requirement(NamedTuple):
    """One comparison: a path, an operator, the values, and the offsets in code points.

    The operators `exists` and `missing` have no values; `=` is read as `==`.
    """

    key: str
    operator: str
    values: tuple[str, ...]
    start: int
    end: int

    @property
    def holds_of_nothing(self) -> bool:
        """Whether it is true if the object has nothing at the path."""
        return self.operator in ("!=", "notin", "missing")


def true_of_new(asked: Sequence[Requirement], *, every: bool) -> list[Requirement]:
    """The comparisons that make a condition true of an object that has no status yet.

    `every`: all comparisons have to be true for that; else one of them is enough.
    """
    found = [one for one in asked if one.holds_of_nothing and one.key.partition(".")[0] == "status"]
    return [] if every and len(found) < len(asked) else found


def conditions(text: str) -> tuple[Requirement, ...]:
    """The comparisons of a condition, in order. Raises GrammarError where it is malformed."""
    if _USUAL.fullmatch(text):
        found = _USUAL_ONE.finditer(text)
        made = [(one[1], one[2] or one[4], one[3] or one[5], *one.span()) for one in found]
        if all(len(key) <= DNS_LABEL_LENGTH >= len(value) for key, _, value, *_ in made):
            return tuple(Requirement(key, _same(sign), (value,), *ends) for key, sign, value, *ends in made)
    trees: list[Any] = _lalr().parse(text).children
    return tuple(_requirement(text, tree) for tree in trees)


def _same(operator: str) -> str:
    return "==" if operator == "=" else operator


@cache
def _lalr() -> Lalr:
    return Lalr("condition.lark", _instead, junk=_JUNK, contextual=True)


_JUNK = regex(r"[^\s=!(),<>]+|[=!]?=")
_PATH = "a path of letters, digits, `-`, `_` and `.`, with at most 63 characters"
_VALUE = "a value of letters, digits, `-`, `_` and `.`, without quotes"


def _instead(found: str, allowed: frozenset[str]) -> str:
    """What is allowed in place of `found`, given the terminals that the grammar would accept."""
    is_word = found != "" and found[0] not in "=!(),<>"
    if "KEY" in allowed:
        return _PATH if is_word else "a path such as `status.succeeded`"
    if "ORDER" in allowed:
        return "`==`, `!=`, `>`, `<`, `in (...)`, `notin (...)`, or nothing more"
    if "NUMBER" in allowed:
        if found.startswith("="):
            return "a whole number (for `>= 4` write `> 3`, for `<= 4` write `< 5`)"
        return "a whole number" if is_word else "a value"
    if "VALUE" in allowed and (is_word or "COMMA" not in allowed):
        return _VALUE if is_word else "a value"
    if "COMMA" in allowed:
        return "`,` or `)`" if "RPAR" in allowed else "`,`"
    return "`(` and the values"


def _requirement(text: str, tree: Any) -> Requirement:
    """The comparison of a tree; only the lengths of its words are left to check."""
    kind, tokens = kind_of(tree), [token for token in tree.children if token is not None]
    start, end = span(tree)
    key = next(token for token in tokens if token.type == "KEY")
    if not is_qualified_name(key):
        raise GrammarError(text, *span(key), _PATH)
    if kind != "compared":
        return Requirement(str(key), kind, (), start, end)
    values = tokens[2:]
    for value in values:
        if not is_label_value(value):
            raise GrammarError(text, *span(value), _VALUE)
    operator = _same(str(tokens[1]))
    return Requirement(str(key), operator, tuple(map(str, values)) or ("",), start, end)
