"""Removes empty fields of objects, and merges entries with the same name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.tree import is_list, is_mapping

if TYPE_CHECKING:
    from flowdsl.compiler.importing.model import Json

#: Fields that mean nothing when they are empty.
_BLANK = (
    "inputs",
    "outputs",
    "metadata",
    "resources",
    "arguments",
    "labels",
    "annotations",
    "securityContext",
)


def without_blanks(value: Any) -> Any:
    """The same without empty fields, which Argo writes in what it exports."""
    if is_mapping(value):
        kept = {key: without_blanks(one) for key, one in value.items() if one is not None}
        return {key: one for key, one in kept.items() if one != {} or key not in _BLANK}
    return [without_blanks(one) for one in value] if is_list(value) else value


def merged(entries: list[Json]) -> list[Json]:
    """Entries with the same name merged into one."""
    found: dict[str, Json] = {}
    for entry in entries:
        holder = found.setdefault(str(entry["name"]), {"name": entry["name"]})
        for key, value in entry.items():
            old = holder.get(key)
            if is_mapping(old) and is_mapping(value):
                holder[key] = _joined(old, value)
            else:
                holder[key] = value
    return list(found.values())


def _joined(one: Json, two: Json) -> Json:
    found = dict(one)
    for key, value in two.items():
        old = found.get(key)
        if is_mapping(old) and is_mapping(value):
            found[key] = _joined(old, value)
        elif is_list(old) and is_list(value):
            found[key] = merged([*old, *value])
        else:
            found[key] = value
    return found
