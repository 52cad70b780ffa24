"""A finding on its way to the reader."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from flowdsl.diagnostic import Finding
    from flowdsl.places.place import Span
    from flowdsl.places.source import Sources


class Located(NamedTuple):
    """A finding with its places looked up; files as they are shown."""

    finding: Finding
    span: Span | None
    file: str
    related: tuple[tuple[str, Span | None, str], ...]
    sources: Sources
