"""What stands in modules of Python that are older than it."""

import functools
import itertools as more
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple, Self

from flowdsl import Volume, pipeline, step

DATA = Volume("data")


class Kind(StrEnum):
    BIG = "big"


class Row(NamedTuple):
    kind: Literal["a", "b"]


@dataclass(slots=True, kw_only=True)
class Point:
    x: int

    def moved(self) -> Self:
        return self


@cache
def squared(rows: int) -> int:
    return rows * rows


@step(image="python:3.9-slim")
def count(rows: int) -> str:
    return str(Kind.BIG) + str(squared(rows))


@step(image="python:3.8-slim")
def pairs(rows: int) -> int:
    @functools.cache
    def inner() -> int:
        return squared(rows)

    return inner() + len(list(more.pairwise(range(rows))))


@step(image="python:3.7-slim")
def row(rows: int) -> Row:
    return Row("a")


@step(image="python:3.9-slim")
def point(rows: int) -> int:
    return Point(x=rows).moved().x


def sign(rows: int, /) -> str:
    match rows:
        case 0:
            return ""
        case _:
            return "+"


@step(image="python:3.8-slim")
def names(rows: list[str], folder: Path) -> list[str]:
    both = zip(rows, sorted(folder.iterdir()), strict=True)
    return [sign(len(rows)), "a.csv".removesuffix(".csv"), *(f"{row} {path}" for row, path in both)]


@step(image="python:3.11-slim")
def batches(rows: int) -> int:
    from itertools import batched

    return len(list(batched(range(rows), 2)))


@step(image="python:3.11-slim")
def right(rows: int) -> int:
    return Point(x=rows).x + squared(rows) + len(sign(rows)) + len(f"{rows}{'+'}")


@step(image="python:3.8-slim")
def asks(folder: Path) -> bool:
    return folder.is_relative_to("/data") if hasattr(folder, "is_relative_to") else True


@pipeline
def main(rows: int = 1) -> None:
    count(rows)
    pairs(rows)
    row(rows)
    point(rows)
    names(["a"], DATA / "rows")
    batches(rows)
    right(rows)
    asks(DATA / "rows")
