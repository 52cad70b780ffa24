"""The options of a pipeline: what holds for the run as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler import mistakes
from flowdsl.compiler.options import caching, code
from flowdsl.compiler.options.reading import Wrong, count, object_name, seconds, text_option, texts

if TYPE_CHECKING:
    from flowdsl.compiler.options.reading import Reader


def _name(name: str, written: object) -> str:
    text = text_option(name, written)
    if not text.isascii() or not any(character.isalnum() for character in text):
        raise Wrong(mistakes.BadTaskName(text, "a workflow", "Kubernetes takes letters and digits of ASCII"))
    return text


def _whole_seconds(name: str, written: object) -> int:
    return max(1, round(seconds(name, written)))


READERS: dict[str, Reader] = {
    "name": _name,
    "parallelism": count,
    "timeout": _whole_seconds,
    "ttl": _whole_seconds,
    "priority": object_name,
    "service_account": object_name,
    "labels": texts,
    "annotations": texts,
    **code.READERS,
    **caching.READERS,
}
