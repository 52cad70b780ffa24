"""The misspelt name of a queue."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim", gpu=1, queue="nightli")
def train(rate: float) -> float:
    return 1 - rate


@pipeline
def nightly() -> None:
    train(0.1)
