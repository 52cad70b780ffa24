"""Parts of a manifest that may be missing, or null."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def inner(owner: Json, name: str) -> Json:
    """The object in a field, an empty one for none."""
    found: Json = owner.get(name) or {}
    return found


def listed(owner: Json, name: str) -> list[Any]:
    """The list in a field, an empty one for none."""
    found: list[Any] = owner.get(name) or []
    return found
