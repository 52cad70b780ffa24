"""A pipeline that calls nothing, and one that names where to begin."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> None:
    print(table)


@pipeline
def nothing() -> None:
    print("orders")


@pipeline(entrypoint="laod", target="laod")
def begins() -> None:
    load("orders")
