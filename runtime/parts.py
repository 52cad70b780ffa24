"""Reads parts of an untrusted object: a part that is missing or has another type counts as empty."""

from __future__ import annotations

from typing import Any

from flowdsl.compiler.tree import is_mapping

Json = dict[str, Any]


def part(of: Json | None, name: str) -> Json:
    """A nested mapping."""
    found: Json | None = of.get(name) if isinstance(of, dict) else None
    return found if isinstance(found, dict) else {}


def several(of: Json | None, name: str) -> list[Json]:
    """The mappings in a nested list."""
    found: list[Json] | None = of.get(name) if isinstance(of, dict) else None
    if not isinstance(found, list):
        return []
    return found if all(map(is_mapping, found)) else list(filter(is_mapping, found))


def texts(of: Json | None, name: str) -> list[str]:
    """A nested list of texts."""
    found: list[str] | None = of.get(name) if isinstance(of, dict) else None
    return found if isinstance(found, list) else []


def text(of: Json, name: str) -> str:
    """A nested value as text, whatever its type."""
    found = of.get(name)
    return "" if found is None else str(found)


def name_of(found: Json) -> str:
    """The name of an object; empty if it has none."""
    return text(part(found, "metadata"), "name")
