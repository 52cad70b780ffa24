"""Values of the settings beside this file are none that the keys can have."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def train(rate: float) -> float:
    return 1 - rate


@pipeline
def nightly() -> None:
    train(0.1)
