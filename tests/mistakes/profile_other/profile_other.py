"""The profile of a cluster that is not compiled for has a key that there is not, and a value that cannot be."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def train(rate: float) -> float:
    return 1 - rate


@pipeline
def nightly() -> None:
    train(0.1)
