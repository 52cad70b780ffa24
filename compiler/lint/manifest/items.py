"""What the items of a `withItems` have in common, computed in bulk: there may be many thousands."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from operator import methodcaller
from typing import Any

from flowdsl.compiler.tree import byte_count
from flowdsl.grammar.named import NamedTuple

_BELOW = methodcaller("values")


class Survey(NamedTuple):
    """The items of one loop.

    `common` are the keys that every item has with a value, `some` those that any has; a list has `[0]`, `[1]`
    and so on. `kinds` are the types of the items. `text` is all texts among the items and directly inside
    them, joined by spaces. `size` is the number of bytes of the items as compact JSON, not counting escapes,
    if they are mappings of texts, else None.
    """

    common: frozenset[str]
    some: frozenset[str]
    kinds: frozenset[type]
    text: str
    size: int | None

    @property
    def without_tags(self) -> bool:
        """Whether it is certain that no text among the items has a tag, at any depth."""
        return self.size is not None and "{{" not in self.text


def survey(items: list[Any], written: bool) -> Survey:
    """Survey all items of a loop: `written` in the manifest, or in a text.

    A key with null is removed from a manifest before the controller sees it, and is "null" in a text.
    """
    kinds: frozenset[type] = frozenset(map(type, items))
    maps, lists = _of_kind(dict, items, kinds), _of_kind(list, items, kinds)
    shapes: dict[tuple[Any, ...], int] = dict.fromkeys(map(tuple, maps), len(maps))
    if len(shapes) > 1:
        shapes = Counter(map(tuple, maps))
    keys = [frozenset(map(str, shape)) for shape in shapes]
    keys += [frozenset(f"[{i}]" for i in range(length)) for length in set(map(len, lists))]
    values: list[Any] = [*chain.from_iterable(map(_BELOW, maps)), *chain.from_iterable(lists)]
    scalars = not kinds <= {dict, list}
    if scalars:
        values += (item for item in items if type(item) not in (dict, list))
    value_kinds: set[type] = set(map(type, values))
    common = frozenset(set(keys[0]).intersection(*keys)) if keys and not scalars else frozenset[str]()
    if written and type(None) in value_kinds:
        common -= {str(key) for item in maps for key, value in item.items() if value is None}
    text = " ".join(values if value_kinds == {str} else [value for value in values if type(value) is str])
    size = None
    if len(maps) == len(items) and value_kinds == {str}:
        # Each entry of a mapping is "key":"value", with a comma behind it or the end of the mapping.
        marks = 6 * len(values) + sum(count for shape, count in shapes.items() if not shape) + 2 * len(items)
        names = sum(count * byte_count("".join(map(str, shape))) for shape, count in shapes.items())
        size = marks + names + byte_count(text) - len(values) + 2
    return Survey(common, frozenset(chain.from_iterable(keys)), kinds, text, size)


def _of_kind(kind: type, items: list[Any], kinds: frozenset[type]) -> list[Any]:
    """The items of one type."""
    if kind not in kinds:
        return []
    return items if len(kinds) == 1 else [item for item in items if type(item) is kind]
