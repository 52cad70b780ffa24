"""Names of Argo's as names of Python."""

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
_OWN = frozenset(("NamedTuple", "Path", "Literal", "self", "cls"))


def identifier(text: str) -> str:
    """The nearest name of a function, parameter or variable."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    name = _OTHER.sub("_", plain).strip("_").lower() or "x"
    name = f"x{name}" if name[0].isdecimal() else name
    return f"{name}_" if name in RESERVED or name in _OWN else name


def class_name(text: str) -> str:
    """The nearest name of a class."""
    words = [word for word in _WORDS.split(text) if word]
    name = "".join(word[0].upper() + word[1:] for word in words)
    return name if name.isidentifier() else f"X{name}"


class Names:
    """Names of one scope, each given once."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = {*taken}

    def free(self, wish: str, other: str = "") -> str:
        """A name that is not taken yet: the one that is wished for, another one, or with a number."""
        found, number = wish, 2
        if found in self.taken and other:
            found = other
        while found in self.taken or found in RESERVED:
            found, number = f"{wish.rstrip('_')}_{number}", number + 1
        self.taken.add(found)
        return found
