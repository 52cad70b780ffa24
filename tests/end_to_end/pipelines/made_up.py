# ruff: noqa: T201 -- what is printed is compared
"""Steps of which pipelines are made up at random; each prints what it was given."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from enum import Enum
from typing import Literal, NamedTuple
from uuid import UUID, uuid5

from flowdsl import step

PYTHON = "python:3.12-slim"
OWNER = UUID(int=1)


class Mode(Enum):
    FAST = 1
    EXACT = 2


class Row(NamedTuple):
    size: int
    name: str
    weight: float | None


class Bill(NamedTuple):
    order: UUID
    due: date
    price: Decimal | None
    waits: list[timedelta]


@dataclass(frozen=True)
class Job:
    mode: Mode
    rows: list[Row]
    notes: dict[Mode, str]
    best: Row | None = None
    level: Literal["low", "high"] = "low"


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
def due(number: int, since: date = date(2026, 1, 1)) -> date:
    print("due", number, since)
    return since + timedelta(days=number)


@step(image=PYTHON)
def price(number: int) -> Decimal:
    print("price", number)
    return Decimal(number).scaleb(-1)


@step(image=PYTHON)
def taxed(price: Decimal, rate: Decimal | None) -> Decimal | None:
    print("taxed", price, rate)
    return price * rate if rate else None


@step(image=PYTHON)
def order(text: str, owner: UUID = OWNER) -> UUID:
    print("order", ascii(text), owner)
    return uuid5(owner, text)


@step(image=PYTHON)
def wait(number: int, day: date) -> timedelta:
    print("wait", number, day)
    return timedelta(hours=number, microseconds=day.day)


@step(image=PYTHON)
def waited(wait: timedelta, price: Decimal) -> int:
    print("waited", wait, price)
    return wait.days + int(price)


@step(image=PYTHON)
def bill(order: UUID, due: date, price: Decimal | None) -> Bill:
    print("bill", order, due, price)
    return Bill(order, due, price, [timedelta(days=due.day), timedelta(seconds=-1.5)])


@step(image=PYTHON)
def bills(number: int) -> list[Bill]:
    print("bills", number)
    return [Bill(UUID(int=one), date(2026, 1, 1), Decimal(one) / 8, []) for one in range(1 + abs(number) % 3)]


@step(image=PYTHON)
def paid(bills: list[Bill], prices: dict[UUID, Decimal]) -> int:
    print("paid", [tuple(map(str, one)) for one in bills], sorted(map(str, prices.items())))
    return len(bills) + len(prices)


@step(image=PYTHON)
def prices(bill: Bill) -> dict[UUID, Decimal]:
    print("prices", ascii(tuple(bill)))
    return {bill.order: Decimal("1.50"), UUID(int=1): bill.price or Decimal(0)}


@step(image=PYTHON)
def pair(number: int, text: str = "p") -> tuple[int, str]:
    print("pair", number, ascii(text))
    return number * 2, text[:4]


@step(image=PYTHON)
def unpaired(pair: tuple[int, str]) -> str:
    print("unpaired", ascii(pair))
    return f"{pair[1]}{pair[0]}"


@step(image=PYTHON)
def job(row: Row, mode: Mode, text: str = "t") -> Job:
    print("job", ascii(tuple(row)), mode.name, ascii(text))
    return Job(mode, [row, row], {Mode.EXACT: text, Mode.FAST: "f"}, row if row.size % 2 else None, "high")


@step(image=PYTHON)
def worked(job: Job, row: Row | None = None) -> int:
    notes = sorted((mode.name, ascii(text)) for mode, text in job.notes.items())
    rows = ascii([None if one is None else tuple(one) for one in (*job.rows, job.best, row)])
    print("worked", job.mode.name, rows, notes, job.level)
    return len(job.rows)


@step(image=PYTHON)
def noted(notes: dict[Mode, str]) -> str:
    print("noted", sorted((mode.name, ascii(text)) for mode, text in notes.items()))
    return notes.get(Mode.FAST, "none")[:9]


@step(image=PYTHON)
def raised(level: Literal["low", "high"], number: int = 0) -> Literal["low", "high"]:
    print("raised", level, number)
    return "high" if number > 1 else level


@step(image=PYTHON)
def matrix(number: int) -> list[list[int]]:
    print("matrix", number)
    return [list(range(one)) for one in range(1 + abs(number) % 3)]


@step(image=PYTHON)
def summed(matrix: list[list[int]]) -> int:
    print("summed", matrix)
    return sum(map(sum, matrix))


@step(image=PYTHON)
def fragile(number: int, text: str = "f") -> int:
    """A step that fails for a number above 3."""
    print("fragile", number, ascii(text))
    if number > 3:
        raise ValueError("too large")
    return number + 1
