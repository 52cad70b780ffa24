"""Results that JSON cannot hold: no number, keys that are no text, a set, bytes."""

import math
from typing import Any, NamedTuple

from flowdsl import pipeline, step


class Score(NamedTuple):
    loss: float
    counts: dict[str, int]


@step(image="python:3.12-slim")
def infinite(table: str) -> float:
    if not table:
        return math.inf
    return float("nan")


@step(image="python:3.12-slim")
def keys(table: str) -> dict[str, Any]:
    return {1: table, None: 2}


@step(image="python:3.12-slim")
def kinds(table: str) -> Any:
    return {"set": {table, "b"}, "bytes": b"a", "number": 1j}


@step(image="python:3.12-slim")
def record(table: str) -> Score:
    return Score(loss=float("-inf"), counts={2: 1})


@pipeline
def nightly() -> None:
    infinite("orders")
    keys("orders")
    kinds("orders")
    record("orders")
