"""A short name in the profile beside this file is misspelt."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def train(rate: float) -> float:
    return 1 - rate


@pipeline
def nightly() -> None:
    train(0.1)
