"""A finding with its source positions resolved, as the renderers take it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.diagnostic import AGAIN
from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.diagnostic import Finding
    from flowdsl.places.place import Span
    from flowdsl.places.source import Sources


class Located(NamedTuple):
    """A finding with its places resolved, and paths as they are displayed."""

    finding: Finding
    span: Span | None
    file: str
    related: tuple[tuple[str, Span | None, str], ...]
    sources: Sources

    def everywhere(self) -> Iterator[Located]:
        """The finding at each of its places."""
        yield self
        for file, span, text in self.related:
            if text == AGAIN:
                yield self._replace(span=span, file=file)
