"""Finds run-time values inside of options, which are fixed at compile time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from flowdsl.artifact import Artifact
from flowdsl.grammar.named import NamedTuple
from flowdsl.tracing.trace import TOKEN
from flowdsl.values.value import is_value
from flowdsl.volume import Volume, VolumePath

if TYPE_CHECKING:
    from types import FunctionType

    from flowdsl.places.place import Site


class Key(NamedTuple):
    """An entry of a dict; its key is the value itself where `key` is None."""

    key: object


class Position(NamedTuple):
    """An entry of a list."""

    number: int


class Field(NamedTuple):
    """An argument of a word such as `GPU(...)` that was called at a site; `position`: among positional arguments."""

    of: str
    name: str
    site: Site
    position: int | None


class Later(NamedTuple):
    """A value that is known only at run time, or a text that contains one, and the path to it."""

    value: object
    way: tuple[Key | Position | Field, ...]


def of_run(thing: object) -> bool:
    """Whether something is known only at run time: a stand-in, or a text that contains one."""
    return is_value(thing) or (isinstance(thing, str) and TOKEN.search(thing) is not None)


def later(option: object) -> list[Later]:
    """The parts of an option that are known only at run time. Mistakes in claims are reported elsewhere."""
    return [] if option is None or type(option) in _FIXED else list(_later(option, (), ()))


def known_options(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options that are known at compile time; the others are reported by their readers."""
    return {name: written for name, written in options.items() if not later(written)}


_FIXED = frozenset((bool, int, float))


def _later(
    thing: object, way: tuple[Key | Position | Field, ...], around: tuple[int, ...]
) -> Iterator[Later]:
    if of_run(thing):
        yield Later(thing, way)
        return
    if isinstance(thing, str) or type(thing) in _FIXED or id(thing) in around:
        return
    around = (*around, id(thing))
    if isinstance(thing, Mapping):
        for key, value in cast("Mapping[object, object]", thing).items():
            if of_run(key):
                yield Later(key, (*way, Key(None)))
            else:
                yield from _later(value, (*way, Key(key)), around)
    elif isinstance(thing, (list, tuple, set, frozenset)):
        for index, each in enumerate(cast("list[object]", thing)):
            yield from _later(each, (*way, Position(index)), around)
    elif type(thing) is VolumePath:
        yield from _later(thing.text, way, around)
        yield from _later(thing.volume, way, around)
    elif isinstance(thing, Artifact):
        for index, (word, value) in enumerate(thing.words.items()):
            field = Field(thing.kind, word, thing.site, None if index else 0)
            yield from _later(value, (*way, field), around)
    elif type(thing).__module__.startswith("flowdsl.") and not isinstance(thing, Volume):
        yield from _arguments(thing, way, around)


def _arguments(
    thing: object, way: tuple[Key | Position | Field, ...], around: tuple[int, ...]
) -> Iterator[Later]:
    """The run-time parts in the arguments of a word, which stores them under their names."""
    kind = type(thing)
    slots = {slot for base in kind.__mro__ for slot in getattr(base, "__slots__", ())}
    if "site" not in slots:
        return
    site: Site = getattr(thing, "site")  # noqa: B009 -- many classes have this attribute
    code = cast("FunctionType", kind.__init__).__code__
    first, last = 1, code.co_argcount + code.co_kwonlyargcount
    for index, name in enumerate(code.co_varnames[first:last]):
        if name in slots:
            position = index if index < code.co_argcount - first else None
            field = Field(kind.__name__, name, site, position)
            yield from _later(getattr(thing, name), (*way, field), around)
