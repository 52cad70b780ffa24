"""Characters that do not arrive as they are: half of a pair, and the one with number 0."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> None:
    print(table)


@pipeline
def nightly() -> None:
    load.options(name="surrogate")("\udcff")
    load.options(name="zero")("a\0b")
