"""Diagnostics: what is wrong, where, and what to do about it.

Each kind of finding is a small subclass of `Finding`: constant text, typed data, a stable code. The kinds are defined
beside the stage that reports them, and are imported only when one is reported. Nothing here formats for a terminal;
`flowdsl.cli.display.report` does.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Literal, cast, dataclass_transform

from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from flowdsl.places.place import Place

Severity = Literal["error", "warning"]


@dataclass_transform(frozen_default=True)
class Finding:
    """A kind of mistake; an instance is one occurrence, without its place.

    `title`, `label` and `help` are templates over the fields of the class. The title is one terse
    phrase that stands alone, the label goes under the caret, the help says the way out.
    A subclass declares its data as annotations and may override `words` where the text of a
    field depends on the data (a near miss, a list of names).
    """

    code: ClassVar[str]
    severity: ClassVar[Severity] = "error"
    title: ClassVar[str]
    label: ClassVar[str] = ""
    help: ClassVar[str] = ""

    _fields: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        names = tuple(name for name, kind in cls.__annotations__.items() if "ClassVar" not in str(kind))
        for name in names:
            if name in Finding.__annotations__ or hasattr(Finding, name):
                raise TypeError(f"{cls.__name__}.{name}: every finding has that, with another meaning")
        cls._fields = cls._fields + names

    def __init__(self, *values: object, **named: object) -> None:
        named.update(zip(self._fields, values, strict=False))
        for name in self._fields:
            if name not in named and not hasattr(type(self), name):
                raise TypeError(f"{type(self).__name__} needs {name!r}")
        self.__dict__.update(named)

    def words(self) -> dict[str, str]:
        """The texts for the placeholders of the templates, by field name."""
        return {name: show(getattr(self, name)) for name in self._fields}

    def with_texts(self, changed: Callable[[str], str]) -> Finding:
        """The same finding, with a function applied to the texts among its data."""
        given = {name: getattr(self, name) for name in self._fields}
        return type(self)(
            **{name: changed(one) if isinstance(one, str) else one for name, one in given.items()}
        )

    def with_help(self, template: str) -> Finding:
        """The same finding with another way out."""
        made = type(self)(**{name: getattr(self, name) for name in self._fields})
        made.__dict__["help"] = template
        return made

    @property
    def message(self) -> str:
        """The title with its data."""
        return self.title.format_map(self.words())

    @property
    def caption(self) -> str:
        """The text under the caret, with its data; may be empty."""
        return self.label.format_map(self.words()) if self.label else ""

    @property
    def advice(self) -> str:
        """The remedy, with its data; may be empty."""
        return self.help.format_map(self.words()) if self.help else ""


class Unknown(Finding):
    """The base of kinds about a name that nothing has: under the caret is what was probably meant, or what there is.

    `nothing` is said where there is nothing.
    """

    label = "{meant}"
    nothing: ClassVar[str] = ""
    name: str
    known: Collection[str]

    def words(self) -> dict[str, str]:
        """The fields, and what was probably meant."""
        return {**super().words(), "meant": suggest(self.name, self.known) or self.nothing}


AGAIN = "the same here"
"""The message at the further places of a mistake."""


class Related(NamedTuple):
    """A second place that explains the first, or has the same mistake: `finding` is what is said there alone."""

    place: Place
    message: str
    finding: Finding | None = None


class Diagnostic(NamedTuple):
    """One finding at one place.

    `around` is the place of the whole text, where the finding is about a part of it.
    """

    finding: Finding
    place: Place | None
    related: tuple[Related, ...] = ()
    around: Place | None = None


def show(value: object) -> str:
    """The text of a field: strings unchanged, sequences as an enumeration."""
    if isinstance(value, int) and is_long(value):
        return f"a whole number of {int(value.bit_length() * math.log10(2)) + 1} digits"
    if isinstance(value, str):
        return value
    if isinstance(value, (tuple, list)):
        return ", ".join(map(show, cast("Iterable[object]", value)))
    return str(value)


def is_long(number: int) -> bool:
    """Whether an integer is too long for a message; Python itself refuses to format very long ones."""
    return number.bit_length() > 128


def together(what: str, wrong: Sequence[Exception]) -> str:
    """Several errors of a kind as one message with a line for each."""
    if len(wrong) == 1:
        return str(wrong[0])
    return "\n  ".join([f"{len(wrong)} {what} are wrong:", *map(str, wrong)])


def near(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known name that `name` was probably meant to be, or None. `cutoff`: the required similarity, at most 1.

    A typo in only the first letter is unlikely: `rar` is not meant to be `tar`, nor `A100` to be `H100`.
    """
    return _known(tuple(known)).near(_folded(name), cutoff)


_MANY = 300
"""Above this number, names are not all compared: only one that differs by a letter is found."""


def any_error(found: Iterable[Diagnostic]) -> bool:
    """Whether one of these is an error, and not a warning."""
    return any(one.finding.severity == "error" for one in found)


class _Known:
    """Known names, with a cache of the closest ones for the names that were looked up."""

    def __init__(self, known: tuple[str, ...]) -> None:
        self.names = {_folded(one): one for one in known}
        self.variants: dict[str, list[str]] | None = None
        if len(self.names) > _MANY:
            self.variants = {}
            for one in self.names:
                for variant in _variants(one):
                    self.variants.setdefault(variant, []).append(one)
        self.found: dict[tuple[str, float], str | None] = {}

    def near(self, written: str, cutoff: float) -> str | None:
        """The closest known name for a case-folded one."""
        if (written, cutoff) not in self.found:
            self.found[written, cutoff] = self._nearest(written, cutoff)
        return self.found[written, cutoff]

    def _nearest(self, written: str, cutoff: float) -> str | None:
        from difflib import SequenceMatcher

        if written in self.names:
            return self.names[written]
        matcher = SequenceMatcher(None, "", written)  # it caches data about the second text
        nearest, most = None, math.nextafter(cutoff, 0)
        for one in self._candidates(written):
            matcher.set_seq1(one)
            if one[1:] != written[1:] and matcher.real_quick_ratio() > most and matcher.quick_ratio() > most:
                ratio = matcher.ratio()
                if ratio > most:
                    nearest, most = one, ratio
        return None if nearest is None else self.names[nearest]

    def _candidates(self, written: str) -> Iterable[str]:
        if self.variants is None:
            return self.names
        found = (one for variant in _variants(written) for one in self.variants.get(variant, ()))
        return dict.fromkeys(found)


@lru_cache(16)
def _known(known: tuple[str, ...]) -> _Known:
    return _Known(known)


def _folded(name: str) -> str:
    return name.lower().replace("-", "_")


def _variants(name: str) -> Iterator[str]:
    """A name, and the name without each of its letters: two that differ by one or by a swap share a variant."""
    yield name
    for at in range(len(name)):
        yield name[:at] + name[at + 1 :]


def instead(written: str, known: Collection[str]) -> str:
    """The replacement for a word that is none of a few allowed ones: the closest one, or all of them."""
    close = near(written, known) or (next(iter(known)) if len(known) == 1 else None)
    return f"write `{close}`" if close else f"write one of {', '.join(known)}"


def suggest(name: str, known: Iterable[str]) -> str:
    """`did you mean ...?`, or the known names, or nothing if there are none."""
    names = list(known)
    if (close := near(name, names)) is not None:
        return f"did you mean `{close}`?"
    if not names:
        return ""
    shown = ", ".join(f"`{known_name}`" for known_name in names[:8])
    return f"there {'is' if len(names) == 1 else 'are'} {shown}" + (" ..." if len(names) > 8 else "")
