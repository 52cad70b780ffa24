"""A pipeline that is made a step."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def train(rate: float) -> float:
    return rate * 2


@step(image="python:3.12-slim")
@pipeline
def tuned(rate: float) -> float:
    return train(rate)


@pipeline
def nightly() -> None:
    tuned(0.1)
