"""The classes of the standard library whose values travel as one text: a row says all that is peculiar to each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex
from flowdsl.values.node import Node

if TYPE_CHECKING:
    from collections.abc import Callable


class Form(NamedTuple):
    """A way to write values as texts, which two parts of a step's script of its name do as well."""

    write: Callable[[Any], str]
    read: Callable[[type[Any], str], Any]
    written: str  # how a user makes a text of a value in Python
    only: bool = False  # whether other texts of a value are refused


def _iso(value: Any) -> str:
    return str(value.isoformat())


def _from_iso(cls: Any, text: str) -> Any:
    return cls.fromisoformat(text)


def _printed(value: Any) -> str:
    return str(value)


def _from_printed(cls: Any, text: str) -> Any:
    return cls(text)


_UNITS = {
    "w": "weeks",
    "d": "days",
    "h": "hours",
    "m": "minutes",
    "s": "seconds",
    "ms": "milliseconds",
    "us": "microseconds",
}
_AMOUNT = regex(r"([0-9.]+)(ms|us|[wdhms])")


def _duration(value: Any) -> str:
    seconds, micros = divmod(abs(value) // type(value)(microseconds=1), 1_000_000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    rest = f"{seconds}.{micros:06}".rstrip("0").rstrip(".")
    amounts = ((f"{hours}", "h"), (f"{minutes}", "m"), (rest, "s"))
    text = "".join(amount + unit for amount, unit in amounts if amount != "0")
    return f"-{text}" if abs(value) != value else text or "0s"


def _from_duration(cls: Any, text: str) -> Any:
    amounts: list[tuple[str, str]] = _AMOUNT.findall(text)
    if not amounts or "".join(map("".join, amounts)) != text.removeprefix("-"):
        raise ValueError(text)
    made = sum((cls(**{_UNITS[unit]: float(amount)}) for amount, unit in amounts), cls())
    return -made if text.startswith("-") else made


FORMS = {
    "iso": Form(_iso, _from_iso, ".isoformat()"),
    "day": Form(_iso, _from_iso, ".isoformat()", only=True),
    "printed": Form(_printed, _from_printed, "str(...)"),
    "canonical": Form(_printed, _from_printed, "str(...)", only=True),
    "duration": Form(_duration, _from_duration, "str(...)"),
}


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
        from importlib import import_module

        found: type[Any] = getattr(import_module(self.module), self.name)
        return found

    def text(self, value: Any) -> str:
        """The text of a value."""
        return FORMS[self.form].write(value)

    def value(self, text: str) -> Any:
        """The value of a text. Raises ValueError with the reason."""
        form = FORMS[self.form]
        try:
            made = form.read(self.cls, text)
        except (ValueError, ArithmeticError):
            raise ValueError(f"it is no {self.name}, such as {self.example}") from None
        if form.only and form.write(made) != text:
            raise ValueError(f"it is written {form.write(made)}")
        return made


ROWS = (
    Textual("date", "datetime", "day", "2026-01-31", canonical=True),
    Textual("time", "datetime", "iso", "06:00:00"),
    Textual("datetime", "datetime", "iso", "2026-01-31T06:00:00+00:00"),
    Textual("timedelta", "datetime", "duration", "1h30m"),
    Textual("UUID", "uuid", "canonical", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", canonical=True),
    Textual("Decimal", "decimal", "printed", "19.99"),
)
BY_CLASS = {(row.module, row.name): row for row in ROWS}


def textual(value: object) -> Textual | None:
    """The row of a value of exactly such a class; None for any other."""
    cls = type(value)
    return BY_CLASS.get((cls.__module__, cls.__name__))


def by_name(name: str) -> Textual | None:
    """The row of the class with this name."""
    return next((row for row in ROWS if row.name == name), None)
