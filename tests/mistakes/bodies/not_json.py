"""Results that JSON cannot hold: keys that are no text, a set, bytes, a complex number."""

from typing import Any, NamedTuple

from flowdsl import pipeline, step


class Score(NamedTuple):
    loss: float
    counts: dict[str, int]


@step(image="python:3.12-slim")
def kinds(table: str) -> Any:
    return {"set": {table, "b"}, "bytes": b"a", "number": 1j}


@step(image="python:3.12-slim")
def record(table: str) -> Score:
    return Score(loss=0.5, counts={2: len(table)})


@step(image="python:3.12-slim")
def lines(table: str) -> list[str]:
    return (line for line in table) if table else {"a"}


@pipeline
def nightly() -> None:
    kinds("orders")
    record("orders")
    lines("orders")
