"""A Literal of a flag where one of a number is wanted: Python takes them for equal, and their texts differ."""

from typing import Literal

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def decide(rows: int) -> Literal[True]:
    return True


@step(image="python:3.12-slim")
def train(layers: Literal[1, 2]) -> None:
    print(layers)


@pipeline
def nightly() -> None:
    train(decide(3))
