"""Conditions on an object of the cluster: `status.succeeded == 4, status.phase notin (Failed, Unknown)`.

Argo reads the conditions of a `resource` template as Kubernetes reads label selectors, and looks each key up
as a path in the object. Sources: Argo Workflows, workflow/executor/resource.go; k8s.io/apimachinery,
labels.Parse.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.names import is_label_value, is_qualified_name

_TOKEN = re.compile(r"\s*(?:(==|!=|=|!|>|<|[(),])|([^\s=!(),<>]+))")
_NUMBER = re.compile(r"[+-]?\d+")
_OPERATORS = {"=", "==", "!=", ">", "<", "in", "notin"}
_WANT = "`==`, `!=`, `>`, `<`, `in (...)`, `notin (...)`, or nothing more"


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
        """Whether it holds where the object has nothing at the path."""
        return self.operator in ("!=", "notin", "missing")


def conditions(text: str) -> tuple[Requirement, ...]:
    """The comparisons of a condition, in order. Raises GrammarError where it is malformed."""
    return _Reader(text).read()


class _Token(NamedTuple):
    sign: str
    word: str
    start: int
    end: int


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = [
            _Token(found[1] or "", found[2] or "", found.start(found.lastindex or 0), found.end())
            for found in _TOKEN.finditer(text)
        ]
        self.tokens.append(_Token("", "", len(text), len(text)))
        self.at = 0

    def read(self) -> tuple[Requirement, ...]:
        found = [self._requirement()]
        while self._take(","):
            found.append(self._requirement())
        self._end()
        return tuple(found)

    def _requirement(self) -> Requirement:
        start = self.tokens[self.at].start
        missing = self._take("!")
        key = self._word("a path such as `status.succeeded`")
        if not is_qualified_name(key.word):
            want = "a path of letters, digits, `-`, `_` and `.`, with at most 63 characters"
            raise GrammarError(self.text, key.start, key.end, want)
        token = self.tokens[self.at]
        if missing or token.sign == "," or token is self.tokens[-1]:
            return Requirement(key.word, "missing" if missing else "exists", (), start, key.end)
        operator = token.sign or token.word
        if operator not in _OPERATORS:
            raise GrammarError(self.text, token.start, token.end, _WANT)
        self.at += 1
        if operator in ("in", "notin"):
            values = self._several()
        elif operator in ("<", ">") or self.tokens[self.at].word:
            values = (self._value(operator),)
        else:
            values = ("",)
        end = self.tokens[self.at - 1].end
        return Requirement(key.word, "==" if operator == "=" else operator, values, start, end)

    def _several(self) -> tuple[str, ...]:
        token = self.tokens[self.at]
        if not self._take("("):
            raise GrammarError(self.text, token.start, token.end, "`(` and the values")
        values = [self._value("in")]
        while self._take(","):
            values.append(self._value("in"))
        token = self.tokens[self.at]
        if not self._take(")"):
            raise GrammarError(self.text, token.start, token.end, "`,` or `)`")
        return tuple(values)

    def _value(self, operator: str) -> str:
        token = self._word("a value")
        if operator in ("<", ">") and _NUMBER.fullmatch(token.word) is None:
            raise GrammarError(self.text, token.start, token.end, "a whole number")
        if not is_label_value(token.word):
            want = "a value of letters, digits, `-`, `_` and `.`, without quotes"
            raise GrammarError(self.text, token.start, token.end, want)
        return token.word

    def _word(self, want: str) -> _Token:
        token = self.tokens[self.at]
        if not token.word:
            raise GrammarError(self.text, token.start, token.end, want)
        self.at += 1
        return token

    def _take(self, sign: str) -> bool:
        if self.tokens[self.at].sign != sign:
            return False
        self.at += 1
        return True

    def _end(self) -> None:
        token = self.tokens[self.at]
        if token is not self.tokens[-1]:
            raise GrammarError(self.text, token.start, token.end, "`,`")
