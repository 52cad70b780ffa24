"""Helpers for the manifests of `resource` templates: fields may have any type, and a word stands for each tag."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.schema.findings import arrived
from flowdsl.compiler.schema.validate import is_whole
from flowdsl.compiler.tree import is_list, mapping_at
from flowdsl.diagnostic import instead, near
from flowdsl.grammar.names import DNS_LABEL_LENGTH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flowdsl.compiler.tree import Object

    Flaw = tuple[str, str]
    """What is wrong with an object, and what to do about it."""

WORD = "tag"
"""Replaces each tag of Argo. A text that contains it is not judged, unless any word would be wrong."""


def counts(spec: Object, owner: str, fields: Iterable[str]) -> Iterator[Flaw]:
    """Fields of an object that must be whole numbers from 0."""
    for field in fields:
        value = spec.get(field)
        number = count(value)
        if isinstance(value, str):
            if WORD not in value:
                yield (
                    f"`{field}` of {owner} is text, not a whole number",
                    "write a whole number, without quotes",
                )
        elif value is not None and not is_whole(value):
            yield f"`{field}` of {owner} is {arrived(value)}, not a whole number", "write a whole number"
        elif number is not None and number < 0:
            yield f"`{field}` of {owner} is {number}", "write a whole number from 0"
        elif number is not None and number > _MOST and field != "activeDeadlineSeconds":
            yield f"`{field}` of {owner} is {number}", f"write at most {_MOST}"


_MOST = 2**31 - 1


def count(value: Any) -> int | None:
    """A whole number; None for other values, and unknown ones."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def one_of(owner: Object, field: str, what: str, known: tuple[str, ...]) -> Iterator[Flaw]:
    """A field with an enumeration of values."""
    value = owner.get(field)
    if isinstance(value, str) and WORD not in value and value not in known:
        yield f"`{field}` of {what} cannot be `{value}`", instead(value, known)


def misspelt(owner: Object, what: str, known: Iterable[str]) -> Iterator[Flaw]:
    """Fields that resemble a known field of an object: other unknown fields may exist in a later version."""
    known = tuple(known)
    for field in map(str, owner):
        if field not in known and WORD not in field and (close := near(field, known, 0.8)) is not None:
            yield f"{what} has `{field}`, which is not a field of it", f"write `{close}`"


def named(body: Object) -> str | None:
    """The name of an object at its final length; None if it is unknown."""
    metadata = mapping_at(body, "metadata")
    name, start = metadata.get("name"), metadata.get("generateName")
    if not name and isinstance(start, str):
        name = f"{start[: DNS_LABEL_LENGTH - 5]}xxxxx"  # as the API server generates it
    return name if isinstance(name, str) and WORD not in name else None


def words(owner: Object, field: str) -> list[str]:
    """The known texts in a list of an object."""
    found = owner.get(field)
    return [each for each in found if isinstance(each, str) and WORD not in each] if is_list(found) else []
