"""Regular expressions in expressions and conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.evaluation.values import ExpressionError, NotHere
from flowdsl.grammar import re2

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator


def found(pattern: str, text: str) -> Iterator[re.Match[str]]:
    """The matches of a pattern in a text, in order. Raises ExpressionError."""
    try:
        yield from re2.matches(pattern, text)
    except re2.RegexError as error:
        raise ExpressionError(str(error)) from None
    except re2.UnknownClass as error:
        raise NotHere(str(error)) from None


def has(pattern: str, text: str) -> bool:
    """Whether a pattern matches anywhere in a text. Raises ExpressionError."""
    return next(found(pattern, text), None) is not None
