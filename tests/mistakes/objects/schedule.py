"""An hour that no day has."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@pipeline(schedule="0 25 * * *")
def nightly(table: str = "orders") -> None:
    load(table)
