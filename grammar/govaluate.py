r"""Parses `when`, which Argo evaluates with govaluate after it has replaced the tags.

Unquoted words are strings, numbers are floats, single and double quotes are equivalent, and `\` escapes the character
after it. Source: github.com/Knetic/govaluate at 7625b7f8c03d, which Argo Workflows 4.1 uses, and shouldExecute in
workflow/controller/steps.go.
"""

from __future__ import annotations

import re
from datetime import date
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from flowdsl.grammar.chains import CHAINED, nested
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.lalr import Lalr, kind_of, span
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_DEPTH = 100
"""The maximum depth of nested nodes."""


class Text(NamedTuple):
    """A word, or quoted text."""

    value: str
    quoted: bool
    start: int
    end: int


class Number(NamedTuple):
    """`3`, `0.5`, `0x1f`."""

    value: float
    start: int
    end: int


class Flag(NamedTuple):
    """`true`, `false`."""

    value: bool
    start: int
    end: int


class Unary(NamedTuple):
    """`!`, `-` or `~` before an operand."""

    operator: str
    operand: Condition
    start: int
    end: int


class Binary(NamedTuple):
    """Two operands. `:` without `?` is like `??`."""

    operator: str
    left: Condition
    right: Condition
    start: int
    end: int


class Choice(NamedTuple):
    """`condition ? yes : no`; without the last the result is nil."""

    condition: Condition
    yes: Condition
    no: Condition | None
    start: int
    end: int


class Several(NamedTuple):
    """`(a, b)`, which only `in` accepts, and `a, b`."""

    items: tuple[Condition, ...]
    start: int
    end: int


Condition = Text | Number | Flag | Unary | Binary | Choice | Several

_RUN = regex(r"""[^\s\w()'"\\\[]{2,}""")


@lru_cache(maxsize=8192)
def parse(text: str) -> Condition:
    """The tree of a condition that is meant as one, with offsets in code points. Raises GrammarError."""
    return _tree(_Builder(text))


@lru_cache(maxsize=8192)
def read(text: str) -> Condition:
    """The tree of what stands in a condition at run time, also of `image:tag` and `a, b`. Raises GrammarError."""
    return _tree(_Builder(text, meant=False))


def _tree(builder: _Builder) -> Condition:
    text = builder.text
    try:
        return builder.node(_lalr().parse(text).children[0])
    except RecursionError:
        raise GrammarError(text, 0, len(text), f"at most {MOST_DEPTH} nested parts") from None


_ZONE = r"[+-](?:[01]\d|2[0-3])"
_TIME = regex(
    r"(?a)(\d{4})-(\d\d)-(\d\d)"
    rf"(?: (?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:{_ZONE}:[0-5]\d)?)?"
    rf"|T(?:[01]\d|2[0-3])(?::[0-5]\d(?::[0-5]\d(?:\.\d{{1,9}})?)?)?(?:Z|{_ZONE}:?[0-5]\d))?"
)


def is_time(text: str) -> bool:
    """Whether a quoted text is certainly read as a time, and so as its seconds. Source: tryParseTime."""
    found = _TIME.fullmatch(text)
    try:
        return found is not None and bool(date(int(found[1]), int(found[2]), int(found[3])))
    except ValueError:
        return False


def children(condition: Condition) -> Iterator[Condition]:
    """The children of a node, in source order."""
    match condition:
        case Unary(_, operand):
            yield operand
        case Binary(_, left, right):
            yield left
            yield right
        case Choice(asked, yes, no):
            yield asked
            yield yes
            if no is not None:
                yield no
        case Several(items):
            yield from items
        case _:
            pass


def walk(condition: Condition) -> Iterator[Condition]:
    """The node and its descendants in pre-order."""
    yield condition
    for part in children(condition):
        yield from walk(part)


@cache
def _lalr() -> Lalr:
    return Lalr("govaluate.lark", _instead, _unreadable)


def _unreadable(rest: str, _: frozenset[str]) -> str:
    """What is allowed where no token begins."""
    if rest[0] in "'\"":
        return "a second quote after this one"
    if rest[0] == "=":
        return "`==`"
    return "a value, or quotes around the text"


def _instead(found: str, allowed: frozenset[str]) -> str:
    """What is allowed in place of `found`, given the terminals that the grammar would accept."""
    if "WORD" in allowed:
        return "a value, or quotes around the text" if found else "a value"
    closing = "`)`" if "RPAR" in allowed else "the end"
    operator = "an operator such as `==`, or quotes around the text"
    return f"{operator}, or {closing}" if found else f"an operator or {closing}"


class _Builder:
    def __init__(self, text: str, *, meant: bool = True) -> None:
        self.text = text
        self.meant = meant
        self.depth = 0

    def node(self, item: Any) -> Condition:
        self.depth += 1
        start, end = span(item)
        if self.depth > MOST_DEPTH:
            raise GrammarError(self.text, start, end, f"at most {MOST_DEPTH} nested parts")
        made = self.made(item, start, end)
        self.depth -= 1
        return made

    def made(self, item: Any, start: int, end: int) -> Condition:
        kind = kind_of(item)
        if kind.isupper():
            return self.token(kind, str(item), start, end)
        parts: list[Any] = item.children
        match kind:
            case "unary":
                sign, operand = parts
                self.separate(sign, operand)
                if kind_of(operand) in ("STRING", "WORD", "NAMED"):
                    raise GrammarError(
                        self.text, start, end, "a number or a condition after the sign, not text"
                    )
                return Unary(str(sign), self.node(operand), start, end)
            case "binary" if str(parts[1]) in CHAINED:
                return self.chain(item, str(parts[1]))
            case "binary":
                left, sign, right = parts
                self.separate(sign, right)
                return self.binary(self.node(left), sign, self.node(right), start, end)
            case "within":
                return Binary("in", self.node(parts[0]), self.node(parts[1]), start, end)
            case "group":
                return self.node(parts[0])
            case _:
                if kind == "separated":
                    self.mean(parts[1])
                return Several(tuple(self.node(part) for part in parts[::2]), start, end)

    def binary(self, left: Condition, sign: Any, right: Condition, start: int, end: int) -> Condition:
        match str(sign), left:
            case "?", _:
                return Choice(left, right, None, start, end)
            case ":", Choice(asked, yes, None):
                return Choice(asked, yes, right, start, end)
            case ":", _:
                self.mean(sign)
            case _:
                pass
        return Binary(str(sign), left, right, start, end)

    def chain(self, item: Any, word: str) -> Condition:
        """Operands with `&&` or with `||` between them; the tree of the parser has the last one at the top."""
        operands: list[Any] = []
        while kind_of(item) == "binary" and str(item.children[1]) == word:
            item, sign, right = item.children
            self.separate(sign, right)
            operands.append(right)
        parts = [(self.node(operand), *span(operand)) for operand in (item, *reversed(operands))]
        return nested(
            parts,
            lambda one, other: (Binary(word, one[0], other[0], one[1], other[2]), one[1], other[2]),
        )[0]

    def mean(self, sign: Any) -> None:
        """Raise an error for a sign that govaluate takes for an operator, but that nobody means as one."""
        if self.meant:
            raise GrammarError(self.text, *span(sign), _instead(str(sign), frozenset()))

    def separate(self, sign: Any, right: Any) -> None:
        """Raise an error if an operator touches another one: govaluate reads both as one."""
        start, end = span(sign)
        following = span(right)[0]
        if end == following and (run := _RUN.match(self.text, start)) is not None and run.end() > end:
            raise GrammarError(self.text, start, run.end(), f"a space after `{sign}`")

    def token(self, kind: str, text: str, start: int, end: int) -> Condition:
        match kind:
            case "CONSTANT":
                return Flag(text == "true", start, end)
            case "NUMBER":
                try:
                    return Number(float(int(text, 16) if text[:2] == "0x" else float(text)), start, end)
                except ValueError:
                    raise GrammarError(self.text, start, end, "a number") from None
            case "WORD":
                if "." in text:
                    raise GrammarError(self.text, start, end, f"quotes around the text: `'{text}'`")
                return Text(_plain(text), False, start, end)
            case _:
                return Text(_plain(text[1:-1]), True, start, end)


def _plain(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)
