"""Names that no task can have."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> None:
    print(table)


@pipeline
def nightly() -> None:
    load.options(name="a.b c")("items")
    load.options(name="x" * 200)("brands")
