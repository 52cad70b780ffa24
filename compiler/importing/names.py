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
_OWN = frozenset(("NamedTuple", "Path", "Literal", "self", "cls"))
#: Names in the body and the annotations of a pipeline, which its parameters must not shadow.
_USED = frozenset((*flowdsl.__all__, *_OWN, "range", "str", "int", "float", "bool", "list"))


def identifier(text: str) -> str:
    """A valid name of a function, parameter or variable that is close to a text."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    name = _OTHER.sub("_", plain).strip("_").lower() or "x"
    name = f"x{name}" if name[0].isdecimal() else name
    return f"{name}_" if name in RESERVED or name in _OWN else name


def parameter(text: str) -> str:
    """A valid name of a parameter or result, splitting words at capitals."""
    return identifier(_CAPITAL.sub("_", text))


def known_outside(text: str) -> str:
    """A name that users of a workflow refer to: unchanged if it is valid in Python."""
    usable = text.isascii() and text.isidentifier() and not keyword.iskeyword(text)
    return text if usable and text not in _USED else parameter(text)


def is_field(text: str) -> bool:
    """Whether a NamedTuple can have a field of that name."""
    usable = text.isascii() and text.isidentifier() and not keyword.iskeyword(text)
    return usable and not text.startswith("_") and not hasattr(tuple, text)


def field(text: str) -> str:
    """A valid name of one of several results: unchanged if it has no capitals and may be a field of a class."""
    return text if is_field(text) and text == text.lower() and text not in _USED else parameter(text)


def class_name(text: str) -> str:
    """A valid name of a class that is close to a text."""
    words = [word for word in _WORDS.split(text) if word]
    name = "".join(word[0].upper() + word[1:] for word in words)
    return name if name.isidentifier() else f"X{name}"


class Names:
    """The names of one scope, each assigned once."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = {*taken}

    def free(self, wish: str, other: str = "", *, known: bool = False) -> str:
        """A name that is still free: the preferred one, the alternative, or one with a number.

        `known` is a name that others refer to, which may shadow a builtin of Python.
        """
        found, number = wish, 2
        if found in self.taken and other:
            found = other
        while found in self.taken or (found in RESERVED and not (known and found == wish)):
            found, number = f"{wish.rstrip('_')}_{number}", number + 1
        self.taken.add(found)
        return found
