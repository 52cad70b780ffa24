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

#: What a written file uses, or what would be taken for it.
RESERVED = frozenset((*keyword.kwlist, *keyword.softkwlist, *dir(builtins), *flowdsl.__all__))
_CAPITAL = regex(r"(?<=[a-z0-9])(?=[A-Z])")
_OWN = frozenset(("NamedTuple", "Path", "Literal", "self", "cls"))
#: What the body and the annotations of a pipeline use, which its parameters must not hide.
_USED = frozenset((*flowdsl.__all__, *_OWN, "range", "str", "int", "float", "bool", "list"))


def identifier(text: str) -> str:
    """The nearest name of a function, parameter or variable."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    name = _OTHER.sub("_", plain).strip("_").lower() or "x"
    name = f"x{name}" if name[0].isdecimal() else name
    return f"{name}_" if name in RESERVED or name in _OWN else name


def parameter(text: str) -> str:
    """The nearest name of a parameter or result, whose words may be told apart by capitals."""
    return identifier(_CAPITAL.sub("_", text))


def known_outside(text: str) -> str:
    """The name of what those who start a run know: as it is, where Python can have it."""
    usable = text.isascii() and text.isidentifier() and not keyword.iskeyword(text)
    return text if usable and text not in _USED else parameter(text)


def is_field(text: str) -> bool:
    """Whether a NamedTuple can have a field of that name."""
    usable = text.isascii() and text.isidentifier() and not keyword.iskeyword(text)
    return usable and not text.startswith("_") and not hasattr(tuple, text)


def field(text: str) -> str:
    """The nearest name of one of several results: as it is, where it has no capitals and may stand in a class."""
    return text if is_field(text) and text == text.lower() and text not in _USED else parameter(text)


def class_name(text: str) -> str:
    """The nearest name of a class."""
    words = [word for word in _WORDS.split(text) if word]
    name = "".join(word[0].upper() + word[1:] for word in words)
    return name if name.isidentifier() else f"X{name}"


class Names:
    """Names of one scope, each given once."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = {*taken}

    def free(self, wish: str, other: str = "", *, known: bool = False) -> str:
        """A name that is not taken yet: the one that is wished for, another one, or with a number.

        `known` is one that others know, which may hide a word of Python.
        """
        found, number = wish, 2
        if found in self.taken and other:
            found = other
        while found in self.taken or (found in RESERVED and not (known and found == wish)):
            found, number = f"{wish.rstrip('_')}_{number}", number + 1
        self.taken.add(found)
        return found
