"""Two tasks that wait for each other: one would have to be named before it is called."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> str:
    return table


@pipeline
def nightly() -> None:
    first = load.options(name="first", after=[second])("orders")
    second = load.options(name="second", after=[first])("users")
