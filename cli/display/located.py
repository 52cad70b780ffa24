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


class Elsewhere(NamedTuple):
    """A further place of a finding, and what is said of it: beside the finding, and alone."""

    file: str
    span: Span | None
    text: str
    finding: Finding


class Located(NamedTuple):
    """A finding with its places resolved, and paths as they are displayed."""

    finding: Finding
    span: Span | None
    file: str
    related: tuple[Elsewhere, ...]
    sources: Sources

    def everywhere(self) -> Iterator[Located]:
        """The finding at each of its places."""
        yield self
        for other in self.related:
            if other.text == AGAIN:
                yield self._replace(span=other.span, file=other.file, finding=other.finding)
