# ruff: noqa: T201 -- what is printed is compared
"""Steps of which pipelines are made up at random; each prints what it was given."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from flowdsl import step

PYTHON = "python:3.12-slim"


class Mode(Enum):
    FAST = 1
    EXACT = 2


class Row(NamedTuple):
    size: int
    name: str
    weight: float | None


@step(image=PYTHON)
def add(left: int, right: int) -> int:
    print("add", left, right)
    return left + right


@step(image=PYTHON)
def half(number: int) -> float:
    print("half", number)
    return number / 2


@step(image=PYTHON)
def scale(number: float, times: int = 2) -> float:
    print("scale", number, times)
    return round(number * times, 3)


@step(image=PYTHON)
def say(text: str, number: int = 1) -> str:
    print("say", ascii(text), number)
    return f"{text}'{number}"


@step(image=PYTHON)
def join(texts: list[str]) -> str:
    print("join", ascii(texts))
    return "".join(texts)[:9]


@step(image=PYTHON)
def numbers(number: int) -> list[int]:
    print("numbers", number)
    return list(range(abs(number) % 4))


@step(image=PYTHON)
def words(text: str) -> list[str]:
    print("words", ascii(text))
    return [text, text.upper(), 'a "b"']


@step(image=PYTHON)
def above(number: int, least: float = 1.5) -> bool:
    print("above", number, least)
    return number > least


@step(image=PYTHON)
def odd(number: int) -> int | None:
    print("odd", number)
    return number if number % 2 else None


@step(image=PYTHON)
def found(text: str) -> str | None:
    print("found", ascii(text))
    return text if len(text) % 2 else None


@step(image=PYTHON)
def row(size: int, name: str = "row") -> Row:
    print("row", size, ascii(name))
    return Row(size, name, size / 4 if size % 2 else None)


@step(image=PYTHON)
def rows(size: int) -> list[Row]:
    print("rows", size)
    return [Row(number, f"r{number}", None if number else 0.5) for number in range(1 + abs(size) % 3)]


@step(image=PYTHON)
def picked(row: Row) -> int:
    print("picked", ascii(tuple(row)))
    return row.size


@step(image=PYTHON)
def total(numbers: list[int]) -> int:
    print("total", numbers)
    return sum(numbers)


@step(image=PYTHON)
def mean(numbers: list[float]) -> float:
    print("mean", numbers)
    return round(sum(numbers) / max(1, len(numbers)), 3)


@step(image=PYTHON)
def table(number: int) -> dict[str, int]:
    print("table", number)
    return {"a": number, "o p": number + 1}


@step(image=PYTHON)
def sizes(table: dict[str, int]) -> int:
    print("sizes", sorted(table.items()))
    return len(table)


@step(image=PYTHON)
def perhaps(number: int | None, text: str | None = None) -> int:
    print("perhaps", number, ascii(text))
    return -1 if number is None else number


@step(image=PYTHON)
def weighed(weight: float | None) -> float:
    print("weighed", weight)
    return weight or 0.25


@step(image=PYTHON)
def flag(yes: bool) -> int:
    print("flag", yes)
    return int(yes)


@step(image=PYTHON)
def listed(rows: list[Row]) -> str:
    print("listed", ascii([tuple(row) for row in rows]))
    return "-".join(row.name for row in rows)[:9]


@step(image=PYTHON)
def mode(number: int) -> Mode:
    print("mode", number)
    return Mode.FAST if number < 2 else Mode.EXACT


@step(image=PYTHON)
def spelled(mode: Mode, number: int = 0) -> str:
    print("spelled", mode.name, number)
    return mode.name.lower()


@step(image=PYTHON)
def fragile(number: int, text: str = "f") -> int:
    """A step that fails for a number above 3."""
    print("fragile", number, ascii(text))
    if number > 3:
        raise ValueError("too large")
    return number + 1
