"""Parses a sweep as given on the command line: the search spaces of parameters, and the objective.

rate=loguniform(1e-5,1e-1)  layers=16,32  note="a, b",c  dropout=uniform(0,.5) if layers > 16  --metric accuracy:max
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.lalr import Lalr, kind_of, span
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterable


class Value(NamedTuple):
    """One value as written, and the text inside its quotes; None if there are none."""

    text: str
    quoted: str | None


class Written(NamedTuple):
    """A space as written: its word with arguments, or no word and the values to try.

    `condition` is the text after `if`, which says for which points the parameter is searched.
    """

    word: str | None
    values: tuple[Value, ...]
    condition: str | None = None


def space(text: str, words: Iterable[str]) -> Written:
    """Parse the space of one parameter, given the known words. Raises GrammarError.

    Commas separate values, except within quotes, brackets and braces, so that a value may be JSON. Parentheses
    belong to words, and after `if` there is a condition, which is not parsed here.
    """
    text, condition = _parted(text)
    tree: Any = _lalr().parse(text)
    parts = [one for one in tree.children if one is not None]
    if kind_of(tree) == "listed":
        return Written(None, tuple(_value(text, one) for one in parts), condition)
    word, known = str(parts[0]), tuple(words)
    if word not in known:
        raise GrammarError(text, *span(parts[0]), _one_of(word, known))
    return Written(word, tuple(_value(text, one) for one in parts[1:]), condition)


_PIECE = regex(r'"(?:[^"\\]|\\.)*"|[(\[{]|[)\]}]|(?<=[\s)\]}"])if(?=[\s(])')


def _parted(text: str) -> tuple[str, str | None]:
    """The text before the first `if` outside of quotes and brackets, and the condition after it."""
    depth = 0
    for piece in _PIECE.finditer(text):
        found = piece.group()
        if found == "if" and depth == 0 and text[: piece.start()].strip():
            return text[: piece.start()], text[piece.end() :].strip()
        depth += (found in "([{") - (found in ")]}")
    return text, None


def metric(text: str) -> tuple[str, str] | None:
    """The output and the goal of `accuracy:max` or `loss:min`, without a name of `max` or `min`; else None."""
    name, colon, goal = text.rpartition(":")
    return (name, goal) if goal in ("max", "min") and bool(name) == bool(colon) else None


def _value(text: str, tree: Any) -> Value:
    start, end = span(tree)
    written = text[start:end].strip()
    alone = len(tree.children) == 1 and kind_of(tree.children[0]) == "STRING"
    if not alone:
        return Value(written, None)
    try:
        return Value(written, str(json.loads(written)))
    except ValueError:
        raise GrammarError(text, start, end, "a text in quotes, as JSON has it") from None


def _one_of(word: str, known: tuple[str, ...]) -> str:
    import difflib

    close = difflib.get_close_matches(word, known, n=1)
    return f"`{close[0]}`" if close else f"{', '.join(f'`{one}`' for one in known)}, or a text in quotes"


@cache
def _lalr() -> Lalr:
    return Lalr("space.lark", _instead)


def _instead(found: str, terminals: frozenset[str]) -> str:
    if found == "(":
        return "a comma: a text with parentheses in it needs quotes"
    if "RPAR" in terminals and not {"TEXT", "STRING"} & terminals:
        return "`,` or `)`"
    if "RSQB" in terminals:
        return "`]`"
    if "RBRACE" in terminals:
        return "`}`"
    if {"TEXT", "STRING"} & terminals:
        return "a value"
    return "a comma" if "COMMA" in terminals else "nothing, or `if` with a condition"
