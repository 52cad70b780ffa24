"""Two tasks of one name: of two calls, of two calls in a called pipeline, and of two calls alike."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> None:
    print(table)


@pipeline
def inner(table: str) -> None:
    load.options(name="first")(table)
    load.options(name="first")("events")


@pipeline
def nightly() -> None:
    load.options(name="a")("orders")
    load.options(name="a")("users")
    load("prices")
    load("prices")
    inner("views")
