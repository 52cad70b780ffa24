"""Reading a manifest, in which every field may be missing or null."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import TypeGuard

Object = dict[str, Any]
Path = tuple[str | int, ...]

compact = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), default=str, skipkeys=True, check_circular=False
).encode
"""A value as JSON without spaces."""


def _no_constant(name: str) -> Any:
    raise ValueError(f"`{name}` is Python's, and no JSON")


def from_json(text: str) -> Any:
    """The value of a JSON text, parsed as Go does. Raises ValueError, usually JSONDecodeError, and RecursionError."""
    return json.loads(text, parse_constant=_no_constant)


def is_json(text: str) -> bool:
    """Whether a text is JSON."""
    try:
        from_json(text)
    except (ValueError, RecursionError):
        return False
    return True


def is_mapping(node: object) -> TypeGuard[Object]:
    """Whether a value of any type is a mapping."""
    return isinstance(node, dict)


def is_list(node: object) -> TypeGuard[list[Any]]:
    """Whether a value of any type is a list."""
    return isinstance(node, list)


def is_description(path: Path) -> bool:
    """Whether a path leads to what people read about a parameter, on which nothing in a run depends."""
    return path[-1:] == ("description",) and path[-3:-2] == ("parameters",)


def is_number(value: object) -> bool:
    """Whether a value of any type is a number; a bool is none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def byte_count(text: str) -> int:
    """The length of a text in UTF-8, in bytes."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def pairs(node: Any) -> Iterable[tuple[Any, Any]]:
    """The entries of a mapping with their keys, or of a list with their indices."""
    if is_mapping(node):
        return node.items()
    entries: list[Any] = node
    return enumerate(entries)


def inside(node: Object, *fields: str) -> Object:
    """The mapping that the fields lead to; empty when there is none."""
    for field in fields:
        node = node.get(field) or {}
    return node


def entries(node: Object, *fields: str) -> list[Object]:
    """The list of mappings that the fields lead to; empty when there is none."""
    return _at(node, fields) or []


def entries_at(node: Object, path: Path, *fields: str) -> Iterator[tuple[Path, Object]]:
    """The mappings in the list that the fields of a node at a path lead to, each with its path."""
    for index, each in enumerate(entries(node, *fields)):
        yield (*path, *fields, index), each


def names_of(node: Object, *fields: str) -> set[str]:
    """The names in the list of mappings that the fields lead to."""
    return {string(each, "name") for each in entries(node, *fields)}


def string(node: Object, *fields: str) -> str:
    """The text that the fields lead to; empty when there is none."""
    return _at(node, fields) or ""


def value_at(document: Any, path: Sequence[str | int]) -> Any:
    """The value at a path of a document; None if there is no such path."""
    at = document
    for step in path:
        try:
            at = at[step]
        except (KeyError, IndexError, TypeError):
            return None
    return at


def put(node: Any, path: Path, value: Any) -> Any:
    """A copy of a mapping or list with a value at a path; only the nodes on the path are copied.

    A node that cannot have the next key is replaced by a mapping that can.
    """
    if not path:
        return value
    has_place = is_mapping(node) if isinstance(path[0], str) else is_list(node)
    copy: Any = node.copy() if has_place else {}
    below = value_at(copy, path[:1])
    copy[path[0]] = put(below, path[1:], value)
    return copy


def mapping_at(node: Any, *fields: str) -> Object:
    """The mapping that the fields lead to in a value of any form; empty where there is none."""
    found = value_at(node, fields)
    return found if is_mapping(found) else {}


def mappings_at(node: Any, *fields: str) -> list[Object]:
    """The mappings in the list that the fields lead to in a value of any form; empty where there is none."""
    found = value_at(node, fields)
    return [each for each in found if is_mapping(each)] if is_list(found) else []


def _at(node: Any, fields: tuple[str, ...]) -> Any:
    for field in fields:
        node = node.get(field)
        if not node:
            return None
    return node
