"""The classes of the standard library whose values travel as one text: a row says all that is peculiar to each."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from flowdsl.grammar.named import NamedTuple
from flowdsl.values.node import Node

if TYPE_CHECKING:
    from collections.abc import Callable


class Form(NamedTuple):
    """A way to write values as texts, which two parts of a step's script of its name do as well."""

    write: Callable[[Any], str]
    read: Callable[[type[Any], str], Any]
    written: str  # as a user writes it in Python


def _iso(value: Any) -> str:
    return str(value.isoformat())


def _from_iso(cls: Any, text: str) -> Any:
    return cls.fromisoformat(text)


FORMS = {"iso": Form(_iso, _from_iso, ".isoformat()")}


class Textual(Node):
    """Values of one of these classes, by its name.

    `canonical`: the text is that of `str()`, and compares with other texts as the values compare.
    """

    name: str
    module: str
    form: str
    example: str
    canonical: bool = False

    @property
    def cls(self) -> type[Any]:
        """The class itself."""
        found: type[Any] = getattr(import_module(self.module), self.name)
        return found

    def text(self, value: Any) -> str:
        """The text of a value."""
        return FORMS[self.form].write(value)

    def value(self, text: str) -> Any:
        """The value of a text. Raises ValueError with the reason."""
        try:
            return FORMS[self.form].read(self.cls, text)
        except ValueError:
            raise ValueError(f"it is no {self.name}, such as {self.example}") from None


ROWS = (
    Textual("date", "datetime", "iso", "2026-01-31", canonical=True),
    Textual("time", "datetime", "iso", "06:00:00"),
    Textual("datetime", "datetime", "iso", "2026-01-31T06:00:00+00:00"),
)
BY_CLASS = {(row.module, row.name): row for row in ROWS}


def textual(value: object) -> Textual | None:
    """The row of a value of exactly such a class; None for any other."""
    cls = type(value)
    return BY_CLASS.get((cls.__module__, cls.__name__))


def by_name(name: str) -> Textual | None:
    """The row of the class with this name."""
    return next((row for row in ROWS if row.name == name), None)
