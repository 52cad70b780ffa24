"""A value that may be None where one is wanted, and where one is returned."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def previous(day: str) -> float | None:
    return None if day < "2026" else 0.5


@step(image="python:3.12-slim")
def train(rate: float) -> float:
    return 1 - rate


@pipeline
def nightly(day: str = "2026-11-28") -> float:
    rate = previous(day)
    train(rate)
    return rate
