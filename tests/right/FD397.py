"""JSON goes where anything is taken, and what is more than that is annotated as what it is."""

from typing import Any, NamedTuple

from flowdsl import pipeline, step


class Row(NamedTuple):
    name: str
    size: int


@step(image="python:3.12-slim")
def row(size: int) -> Row:
    return Row("a", size)


@step(image="python:3.12-slim")
def show(row: Row, shape: tuple[int, int], more: Any) -> None:
    print(row.name, shape, more)


@pipeline
def nightly() -> None:
    found = row(1)
    show(found, (3, found.size), {"sizes": [found.size, 2], "name": None})
