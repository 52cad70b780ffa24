"""The parts of a manifest: what is left out is empty."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def part(of: Json | None, name: str) -> Json:
    """A mapping in a mapping."""
    found = None if of is None else of.get(name)
    made: Json = found or {}
    return made


def several(of: Json | None, name: str) -> list[Json]:
    """A list of mappings in a mapping."""
    found = None if of is None else of.get(name)
    made: list[Json] = found or []
    return made


def texts(of: Json | None, name: str) -> list[str]:
    """A list of texts in a mapping."""
    found = None if of is None else of.get(name)
    made: list[str] = found or []
    return made
