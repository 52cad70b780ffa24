"""Two tasks that ask for one name, and names that no task can have."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> None:
    print(table)


@pipeline
def nightly() -> None:
    load.options(name="load")("orders")
    load.options(name="Load")("users")
    load.options(name="2nd")("events")
    load.options(name="日本")("items")
