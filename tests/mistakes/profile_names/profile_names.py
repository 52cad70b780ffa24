"""A vendor in the profile beside this file is misspelt, and an amount of memory has no unit."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def train(rate: float) -> float:
    return 1 - rate


@pipeline
def nightly() -> None:
    train(0.1)
