"""Where tags stand in scripts, and where no variable can replace them."""

from __future__ import annotations

from flowdsl.grammar.named import NamedTuple

Span = tuple[int, int, str]
"""The offsets of a tag, and its variable."""


class Refused(NamedTuple):
    """The offset of a tag in a script that no variable can replace."""

    at: int
