"""Values that change type on the way: a type that JSON does not have, where JSON is expected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.grammar.named import NamedTuple
from flowdsl.values import types as t
from flowdsl.values.lift import parts_of
from flowdsl.values.textual import Textual
from flowdsl.values.value import expr_of, is_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class _Change(NamedTuple):
    """The first changed part of a value: a description, its type, how it arrives, and what JSON lacks."""

    what: str
    have: str
    arrives: str
    lacks: str
    inside: t.Keys = ()


def tell_changed(complain: Callable[..., None], parameter: str, value: object, want: t.Type) -> None:
    """Report the first part of an argument that arrives with another type."""
    if not any(isinstance(one, t.Json) for one in t.scalars(want)):
        return
    if (found := next(_of_value(value, want), None)) is not None:
        complain("ChangedOnTheWay", parameter=parameter, **found._asdict())


def _of_value(value: object, want: t.Type) -> Iterator[_Change]:
    if is_value(value):
        yield from _of_type(expr_of(value).type, want)
        return
    if isinstance(want, t.Maybe):
        yield from _of_value(value, want.item)
        return
    if isinstance(want, t.Json) and (kind := _known(value)) is not None:
        yield from _of_type(kind, want)
    elif (parts := parts_of(value, want)) is not None:
        for step, part, kind in zip(parts.steps, parts.values, parts.types, strict=True):
            for found in _of_value(part, kind):
                yield found._replace(inside=(step, *found.inside))


def _known(value: object) -> t.Type | None:
    """The type of a constant that JSON cannot represent."""
    return t.record_of(value) or (t.Fixed(()) if isinstance(value, tuple) else None)


def _of_type(have: t.Type, want: t.Type) -> Iterator[_Change]:
    match have, want:
        case t.Record(), t.Json():
            yield _Change(f"a {t.spell(have)}", t.spell(have), "a dict", "records")
        case ((t.Fixed() | t.Sequence(_, True)), t.Json()):
            yield _Change("a tuple", "tuple[...]", "a list", "tuples")
        case t.Enumeration(cls), t.Json():
            yield _Change(f"a {cls.__name__}", cls.__name__, "the text of its name", "enumerations")
        case Textual(name), t.Json():
            yield _Change(f"a {name}", name, "its text", f"{name}s")
        case t.Mapping(_, (t.Number() | t.Enumeration() | Textual()) as key), t.Json():
            name = f"members of {t.spell(key)}"
            if isinstance(key, t.Number):
                name = "whole numbers"
            elif isinstance(key, Textual):
                name = f"{key.name}s"
            yield _Change(
                f"a dict with {name} as keys",
                f"dict[{t.spell(key)}, ...]",
                "one with texts",
                "keys but texts",
            )
        case ((t.Sequence(item) | t.Mapping(item) | t.Maybe(item)), t.Json()):
            yield from _of_type(item, want)
        case t.Entries(_, fields), t.Json():
            for field in fields:
                yield from _of_type(field.type, want)
        case _, t.Maybe(item):
            yield from _of_type(t.without_none(have), item)
        case (t.Sequence(one), t.Sequence(two)) | (t.Mapping(one), t.Mapping(two)):
            yield from _of_type(one, two)
        case ((t.Fixed() | t.Record()), (t.Fixed() | t.Record())):
            for one, two in zip(t.parts(have, 0) or (), t.parts(want, 0) or (), strict=False):
                yield from _of_type(one, two)
        case _:
            return


def arriving(have: t.Type, want: t.Type) -> t.Type:
    """The type of a value after it was passed as another type: if that is JSON, the JSON type."""
    if isinstance(have, t.Maybe) or isinstance(want, t.Maybe):
        inner = arriving(t.without_none(have), t.without_none(want))
        return t.Maybe(inner) if isinstance(have, t.Maybe) else inner
    loose = isinstance(want, t.Json)
    kinds = t.parts(have, 1) or []
    wanted = [t.JSON] * len(kinds) if loose else t.parts(want, len(kinds)) or kinds
    parts = [arriving(one, other) for one, other in zip(kinds, wanted, strict=True)]
    match have:
        case t.Enumeration() | Textual() if loose:
            return t.TEXT
        case t.Entries() if loose:
            return t.JSON
        case t.Record(_, fields):
            kept = tuple(one.changed(type=part) for one, part in zip(fields, parts, strict=True))
            return t.Record(dict, kept) if loose else have.changed(fields=kept)
        case t.Fixed():
            return t.Fixed(tuple(parts), listed=loose)
        case t.Sequence(_, tupled):
            return t.Sequence(parts[0], tupled=tupled and not loose)
        case t.Mapping(_, key):
            return t.Mapping(parts[0], t.TEXT if loose else key)
        case _:
            return have
