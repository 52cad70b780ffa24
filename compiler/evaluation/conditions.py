"""Evaluates a `when` whose tags are replaced, as govaluate does.

Source: github.com/Knetic/govaluate at 7625b7f8c03d; shouldExecute in workflow/controller/steps.go of Argo 4.1.
"""

# The type of a value is known only at run time, as in Go: lists and mappings hold anything.
# pyright: reportUnknownVariableType=false

from __future__ import annotations

import math
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from flowdsl.compiler.evaluation import patterns
from flowdsl.compiler.evaluation.refusals import refusal
from flowdsl.compiler.evaluation.times import parsed
from flowdsl.compiler.evaluation.values import ExpressionError, shown
from flowdsl.compiler.tree import is_number
from flowdsl.grammar import govaluate as g
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from flowdsl.compiler.evaluation.values import Value


_NO_BOOL = ", it is not a bool"
_KINDS = {
    "&&": ("logical operator", _NO_BOOL),
    "||": ("logical operator", _NO_BOOL),
    "!": ("prefix", ""),
    "?": ("ternary operator", _NO_BOOL),
}
_KITCHEN = "3:04PM"
_LAYOUTS = (
    "2006-01-02T15:04:05Z07:00",
    "Mon Jan _2 15:04:05 2006",
    "Mon Jan _2 15:04:05 MST 2006",
    "Mon Jan 02 15:04:05 -0700 2006",
    "2006-01-02",
    "2006-01-02 15:04",
    "2006-01-02 15:04:05",
    "2006-01-02 15:04:05-07:00",
    "2006-01-02T15Z0700",
    "2006-01-02T15:04Z0700",
    "2006-01-02T15:04:05Z0700",
)
_NEAR_A_TIME = regex(r"\d{4}-\d\d-\d\d|[A-Z][a-z]{2} [A-Z][a-z]{2} |\d\d?:\d\d[AP]M$")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_YEAR_2000 = datetime(2000, 1, 1, tzinfo=UTC)
_YEAR_0 = 62167219200
"""The seconds from the start of year 0 to that of 1970."""


def condition(text: str) -> bool:
    """Whether a task runs; an empty text is true. Raises ExpressionError."""
    if not text:
        return True
    found = evaluate(text)
    if not isinstance(found, bool):
        raise ExpressionError(f"Expected boolean evaluation for '{text}'. Got {shown(found)}")
    return found


def evaluate(text: str) -> Value:
    """The value of a condition: text, float, bool, list or nil. Raises ExpressionError."""
    try:
        parsed = g.read(text)
    except GrammarError as error:
        raise ExpressionError(refusal(text) or f"Invalid 'when' expression '{text}': {error}") from None
    try:
        return _of(parsed)
    except ExpressionError as error:
        raise ExpressionError(f"Failed to evaluate 'when' expresion '{text}': {error}") from None


def _of(node: g.Condition) -> Value:
    match node:
        case g.Text(value, True):
            return _quoted(value)
        case g.Text(value) | g.Number(value) | g.Flag(value):
            return value
        case g.Several(items):
            return [_of(item) for item in items]
        case g.Choice(asked, yes, no):
            if _flag(_of(asked), "?"):
                return _of(yes)
            return None if no is None else _of(no)
        case g.Unary(word, operand):
            value = _of(operand)
            if word == "!":
                return not _flag(value, word)
            number = _number(value, word)
            return -number if word == "-" else float(~int(number))
        case g.Binary(word, left, right):
            one = _of(left)
            if word in ("&&", "||"):
                if _flag(one, word) == (word == "||"):
                    return one
                return _flag(_of(right), word)
            if word in ("??", ":"):
                return _of(right) if one is None else one
            return _binary(word, one, _of(right))


def _quoted(text: str) -> Value:
    """A quoted text: a time becomes the number of its seconds (tryParseTime)."""
    if _NEAR_A_TIME.match(text):
        for layout in _LAYOUTS:
            with suppress(ExpressionError):
                return float((parsed(layout, text) - _EPOCH) // timedelta(seconds=1))
        with suppress(ExpressionError):  # a time of day is in the year 0, which Python does not have
            return float((parsed(f"2006 {_KITCHEN}", f"2000 {text}") - _YEAR_2000).seconds - _YEAR_0)
    return text


def _flag(value: Value, word: str) -> bool:
    if not isinstance(value, bool):
        kind, wanted = _KINDS[word]
        raise ExpressionError(f"Value '{shown(value)}' cannot be used with the {kind} '{word}'{wanted}")
    return value


def _number(value: Value, word: str) -> float:
    if not is_number(value):
        raise ExpressionError(
            f"Value '{shown(value)}' cannot be used with the modifier '{word}', it is not a number"
        )
    return float(value)


def _binary(word: str, one: Value, two: Value) -> Value:
    if word in ("==", "!="):
        return (type(one) is type(two) and one == two) == (word == "==")
    if word in ("<", ">", "<=", ">="):
        return _order(word, one, two)
    if word == "in":
        if not isinstance(two, list):
            raise ExpressionError(
                f"Value '{shown(two)}' cannot be used with the comparator 'in', it is not a number"
            )
        items: list[Value] = two
        return any(type(item) is type(one) and item == one for item in items)
    if word in ("=~", "!~"):
        if not (isinstance(one, str) and isinstance(two, str)):
            raise ExpressionError(
                f"Value '{shown(one)}' cannot be used with the comparator '{word}', it is not a number"
            )
        return patterns.has(two, one) == (word == "=~")
    if word == "+" and (isinstance(one, str) or isinstance(two, str)):
        return shown(one) + shown(two)
    return _arithmetic(word, _number(one, word), _number(two, word))


def _order(word: str, one: Value, two: Value) -> bool:
    texts = isinstance(one, str) and isinstance(two, str)
    if not texts and not (is_number(one) and is_number(two)):
        raise ExpressionError(
            f"Value '{shown(one)}' cannot be used with the comparator '{word}', it is not a number"
        )
    if texts:
        one, two = one.encode(), two.encode()
    return bool({"<": one < two, ">": one > two, "<=": one <= two, ">=": one >= two}[word])


def _arithmetic(word: str, one: float, two: float) -> float:
    match word:
        case "+":
            return one + two
        case "-":
            return one - two
        case "*":
            return one * two
        case "/":
            return one / two if two else math.nan if not one or one != one else math.copysign(math.inf, one)
        case "%":
            return math.fmod(one, two) if two else math.nan
        case "**":
            try:
                return math.pow(one, two)
            except (OverflowError, ValueError):
                return math.inf
        case "&":
            return float(int(one) & int(two))
        case "|":
            return float(int(one) | int(two))
        case "^":
            return float(int(one) ^ int(two))
        case _:
            left, count = int(one) % 2**64, min(int(two) % 2**64, 64)
            return float((left << count) % 2**64 if word == "<<" else left >> count)
