"""Spot nodes of a cluster that has none."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim", gpu=1, spot=True)
def train(rate: float) -> float:
    return 1 - rate


@pipeline
def nightly() -> None:
    train(0.1)
