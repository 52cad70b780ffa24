"""A variable with the name of the step that makes its value."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@pipeline
def nightly() -> int:
    load = load("orders")
    return load
