"""A decorator of another file below ours."""

from flowdsl import pipeline, step

from project.decorators import logged


@step(image="python:3.12-slim")
@logged
def load(table: str) -> int:
    return len(table)


@pipeline
def nightly() -> None:
    load("orders")
