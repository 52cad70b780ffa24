"""Where tags stand in scripts, and where no variable can replace them."""

from __future__ import annotations

from flowdsl.grammar.named import NamedTuple

Span = tuple[int, int, str]
"""A tag by its offsets, and the variable for it."""


class Refused(NamedTuple):
    """Where in a script a tag stands that no variable can stand for."""

    at: int
