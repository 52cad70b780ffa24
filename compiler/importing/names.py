"""Converts names of Argo to names of Python."""

from __future__ import annotations

import builtins
import keyword
import unicodedata
from typing import TYPE_CHECKING

import flowdsl
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterable

_OTHER = regex(r"\W+", 0)
_WORDS = regex(r"[^a-zA-Z0-9]+|(?<=[a-z0-9])(?=[A-Z])")

#: Names that written files use, or that would be confused with them.
RESERVED = frozenset((*keyword.kwlist, *keyword.softkwlist, *dir(builtins), *flowdsl.__all__))
_CAPITAL = regex(r"(?<=[a-z0-9])(?=[A-Z])")
_OWN = frozenset(("NamedTuple", "Path", "Literal", "Annotated", "self", "cls"))
#: Names in the body and the annotations of a pipeline, which its parameters must not shadow.
_USED = frozenset((*flowdsl.__all__, *_OWN, "range", "str", "int", "float", "bool", "list"))


def identifier(text: str) -> str:
    """A valid name of a function or variable that is close to a text."""
    name = _plain(text)
    return f"{name}_" if name in RESERVED or name in _OWN else name


def parameter(text: str) -> str:
    """A valid name of a parameter or result: unchanged if it is one without capitals, which split words."""
    if _is_valid(text) and text == text.lower() and not text.startswith("_") and text not in _USED:
        return text
    name = _plain(_CAPITAL.sub("_", text))
    return f"{name}_" if keyword.iskeyword(name) or name in _USED else name


def _plain(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    name = _OTHER.sub("_", plain).strip("_").lower() or "x"
    return f"x{name}" if name[0].isdecimal() else name


def known_outside(text: str) -> str:
    """A name that users of a workflow refer to: unchanged if it is valid in Python."""
    return text if _is_valid(text) and text not in _USED else parameter(text)


def is_field(text: str) -> bool:
    """Whether a NamedTuple can have a field of that name."""
    return _is_valid(text) and not text.startswith("_") and not hasattr(tuple, text)


def _is_valid(text: str) -> bool:
    return text.isascii() and text.isidentifier() and not keyword.iskeyword(text)


def class_name(text: str) -> str:
    """A valid name of a class that is close to a text."""
    words = [word for word in _WORDS.split(text) if word]
    name = "".join(word[0].upper() + word[1:] for word in words)
    return name if name.isidentifier() else f"X{name}"


class Names:
    """The names of one scope, each assigned once; those that others refer to may shadow builtins of Python."""

    def __init__(self, taken: Iterable[str] = (), *, shadowing: bool = False) -> None:
        self.taken = {*taken}
        self._shadowing = shadowing

    def free(self, wish: str, other: str = "") -> str:
        """A name that is still free: the preferred one, the alternative, or one with a number."""
        found, number = wish, 2
        if found in self.taken and other:
            found = other
        while found in self.taken or (found in RESERVED and not (self._shadowing and found == wish)):
            found, number = f"{wish.rstrip('_')}_{number}", number + 1
        self.taken.add(found)
        return found
