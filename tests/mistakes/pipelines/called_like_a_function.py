"""A pipeline that is called where nothing compiles it."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@pipeline
def nightly() -> None:
    load("orders")


nightly()
