"""A default that is nearly a member of its Enum."""

from enum import Enum

from flowdsl import pipeline, step


class Size(Enum):
    SMALL = "small"
    LARGE = "large"


@step(image="python:3.12-slim")
def train(size: Size = Size.SMAL) -> None:
    print(size)


@pipeline
def nightly() -> None:
    train()
