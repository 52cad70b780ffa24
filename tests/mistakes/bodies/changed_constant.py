"""A constant that a function changes after it is written."""

from flowdsl import pipeline, step

LIMITS = {"orders": 100}


def register(name: str, limit: int) -> None:
    LIMITS[name] = limit


register("users", 50)


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return LIMITS[table]


@pipeline
def nightly() -> None:
    load("orders")
