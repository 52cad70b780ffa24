"""The smallest workflow that still differs."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.tree import is_list, is_mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Json = dict[str, Any]
Path = tuple[str | int, ...]

#: Keys that are never removed.
_KEPT = (
    *("name", "template", "command", "expression", "duration", "limit", "value", "path", "count", "key"),
    *("image", "tasks", "containers"),
)


def smallest(manifest: Json, differs: Callable[[Json], bool]) -> Json:
    """A manifest reduced until no part of its spec can be removed any more; the largest parts go first."""
    again = True
    while again:
        again = False
        for path in sorted(_paths(manifest["spec"], ()), key=len):
            made = copy.deepcopy(manifest)
            if _take_out(made["spec"], path) and called(made["spec"]) <= _defined(made) and differs(made):
                manifest, again = made, True
    return manifest


def _paths(value: Any, at: Path) -> Iterator[Path]:
    """The paths of all parts; for lists the last item first."""
    for key, part in reversed(_parts(value)):
        if key not in _KEPT:
            yield (*at, key)
        yield from _paths(part, (*at, key))


def _parts(value: Any) -> list[tuple[str | int, Any]]:
    if is_mapping(value):
        return [*value.items()]
    return [*enumerate(value)] if is_list(value) else []


def _take_out(value: Any, path: Path) -> bool:
    """Remove a part, unless it is gone already, or the only item of a list, which is removed as a whole."""
    try:
        for key in path[:-1]:
            value = value[key]
        del value[path[-1]]
    except (KeyError, IndexError, TypeError):
        return False
    return is_mapping(value) or bool(value)


def called(value: Any) -> set[str]:
    """The names of all called templates."""
    parts = _parts(value)
    own = {part for key, part in parts if key in ("template", "entrypoint", "onExit")}
    return own.union(*(called(part) for _, part in parts))


def _defined(manifest: Json) -> set[str]:
    return {one["name"] for one in manifest["spec"].get("templates", ())}
