"""A relative import in a step whose image gets the code of a repository."""

from flowdsl import Git, pipeline, step


@step(image="python:3.12-slim", code=Git("https://example.com/m.git", revision="v1"))
def load(table: str) -> None:
    from . import shapes
    from .tables import size

    print(size(table), shapes)


@pipeline
def nightly() -> None:
    load("orders")
