"""Where the parts of a manifest come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flowdsl.compiler import ir
    from flowdsl.places.place import Place

Json: TypeAlias = dict[str, Any]

#: A field of an object, its value, and the options that determine it.
Field: TypeAlias = tuple[str, Any, tuple[str, ...]]


class Origins(dict[tuple[int, "str | int"], "Place"]):
    """For each part that a user's text determines, the place of that text.

    The key is the identity of the dict or list that contains the part, and the part's key in it. All of these are kept,
    also what is not in the manifest in the end, so that no identity is reused.
    """

    def __init__(self) -> None:
        super().__init__()
        self.holders: list[object] = []

    def note(self, holder: object, key: str | int, place: Place) -> None:
        """Record where a part comes from."""
        self.holders.append(holder)
        self[id(holder), key] = place

    def option(self, holder: Json, key: str, template: ir.Template, *options: str) -> None:
        """Record which option of a template determines a part: the first of these that was written."""
        places = template.places
        written = [places[option] for option in options if option in places]
        self.note(holder, key, written[0] if written else template.place)

    def write(self, holder: Json, fields: Iterable[Field], template: ir.Template) -> None:
        """Write those fields of a template that have a value."""
        for field, value, options in fields:
            if value:
                holder[field] = value
                self.option(holder, field, template, *options)


def filled(fields: Json) -> Json:
    """The fields that have a value."""
    return {name: value for name, value in fields.items() if value}
