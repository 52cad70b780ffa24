"""A pipeline returns what a step returns without saying so."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def count(rows: int):
    return rows // 2


@pipeline
def nightly() -> int:
    return count(10)
