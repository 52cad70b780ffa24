"""A name for Argo that is no name in Python; it stays the name of Python."""

from typing import Annotated

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def train(lr: Annotated[float, "learning-rate"] = 0.1) -> float:
    return lr


@pipeline
def nightly() -> None:
    train(**{"learning-rate": 0.5})
