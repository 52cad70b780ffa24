"""The findings of the trace (FD2xx), by topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flowdsl.diagnostic import Finding

_TOPICS = ("arguments", "values", "texts", "literals", "blocks", "bodies", "loops", "sweeps", "words")


def mistake(kind: str, /, **data: Any) -> Finding:
    """A mistake of the kind of that name. The topics are imported with the first one: most traces find none."""
    from importlib import import_module

    topics = (vars(import_module(f"{__name__}.{topic}")) for topic in _TOPICS)
    made: Finding = next(topic[kind] for topic in topics if kind in topic)(**data)
    return made
