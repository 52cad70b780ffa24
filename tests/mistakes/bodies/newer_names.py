"""What stands in modules of Python that are older than it."""

import functools
import itertools as more
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Literal, NamedTuple, Self

from flowdsl import pipeline, step


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


@step(image="python:3.11-slim")
def right(rows: int) -> int:
    return Point(x=rows).x + squared(rows)


@pipeline
def main(rows: int = 1) -> None:
    count(rows)
    pairs(rows)
    row(rows)
    point(rows)
    right(rows)
