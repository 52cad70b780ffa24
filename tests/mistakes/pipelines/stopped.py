"""The body of a pipeline raises an exception after another mistake."""

from flowdsl import pipeline, step

LIMITS = {"orders": 100}


@step(image="python:3.12-slim")
def load(table: str, limit: int) -> int:
    return len(table[:limit])


@pipeline
def nightly() -> None:
    load("orders", limt=LIMITS["orders"])
    load("users", LIMITS["users"])
