"""The options of a pipeline: what holds for the run as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.findings.tasks import BadTaskName
from flowdsl.compiler.options import caching, code, identity, patch, placement, run, schedule, store
from flowdsl.compiler.options.control import locks
from flowdsl.compiler.options.environment import checkpoints
from flowdsl.compiler.options.reading import Wrong, count, text_option, whole_seconds

if TYPE_CHECKING:
    from flowdsl.compiler.options.reading import Reader


def _name(name: str, written: object) -> str:
    text = text_option(name, written)
    if not text.isascii() or not any(character.isalnum() for character in text):
        raise Wrong(BadTaskName(text, "a workflow", "Kubernetes takes ASCII letters and digits"))
    return text


READERS: dict[str, Reader] = {
    "name": _name,
    "parallelism": count,
    "timeout": whole_seconds,
    "priority": placement.READERS["priority"],
    **identity.READERS,
    **store.READERS,
    "locks": locks,
    **patch.READERS,
    **run.READERS,
    **schedule.READERS,
    "queue": placement.READERS["queue"],
    "checkpoints": checkpoints,
    **code.READERS,
    **caching.READERS,
}
