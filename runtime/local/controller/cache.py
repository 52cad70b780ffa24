"""The caches of `memoize`: outputs by key, as Argo stores them in ConfigMaps.

Source: workflow/controller/cache of Argo 4.1.
"""

from __future__ import annotations

import math
from typing import Any

from flowdsl.grammar.duration import complaint, duration
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex
from flowdsl.runtime.local.controller.tags import ArgoError

Json = dict[str, Any]

_KEY = regex(r"[a-zA-Z0-9][-a-zA-Z0-9]*")


class Entry(NamedTuple):
    """The cached result of an execution."""

    node: str
    outputs: Json
    created: float


class Cache:
    """The entries that existed when the run began, and those that it added."""

    def __init__(self, entries: dict[str, dict[str, Entry]] | None = None) -> None:
        self._entries = entries or {}
        self.added: list[tuple[str, str, Entry]] = []

    def find(self, cache: str, key: str, oldest: object, now: float) -> Json | None:
        """The outputs of an entry that is not too old, or None. Raises ArgoError."""
        if not _KEY.fullmatch(key):
            raise ArgoError(f"invalid cache key: {key}")
        limit = _age(str(oldest)) if oldest else math.inf
        entry = self._entries.get(cache, {}).get(key)
        if entry is None or now - entry.created > limit:
            return None
        return entry.outputs

    def keep(self, cache: str, key: str, entry: Entry) -> None:
        """Add an entry."""
        self._entries.setdefault(cache, {})[key] = entry
        self.added.append((cache, key, entry))


def _age(text: str) -> float:
    """The seconds of a `maxAge`, which is a duration as Go reads it: a number needs its unit. Raises ArgoError."""
    if fault := complaint(text):
        raise ArgoError(f"invalid maxAge: {fault}")
    return duration(text)
