"""A step that counts in a global variable."""

from flowdsl import pipeline, step

loaded = 0


@step(image="python:3.12-slim")
def load(table: str) -> int:
    global loaded
    loaded += len(table)
    return loaded


@pipeline
def nightly() -> None:
    first = load("orders")
    second = load("users")
