"""A pipeline whose name is empty."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> None:
    print(table)


@pipeline(name="")
def nothing() -> None:
    load("orders")
