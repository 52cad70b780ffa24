"""A part of what a pipeline returns is of another type."""

from typing import NamedTuple

from flowdsl import pipeline, step


class Trained(NamedTuple):
    name: str
    rounds: int


@step(image="python:3.12-slim")
def train(rate: float) -> float:
    return rate


@pipeline
def weekly(rate: float = 0.1) -> Trained:
    loss = train(rate)
    return Trained(
        "weekly",
        rounds=loss * 2,
    )


@pipeline
def nightly(rate: float = 0.1) -> tuple[str, float]:
    loss = train(rate)
    return loss, loss
