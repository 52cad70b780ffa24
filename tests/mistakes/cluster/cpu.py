"""More CPUs than any node has."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim", cpu=96)
def train(rate: float) -> float:
    return 1 - rate


@pipeline
def nightly() -> None:
    train(0.1)
