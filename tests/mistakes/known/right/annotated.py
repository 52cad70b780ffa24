"""A name for another tool in an annotation: in Argo the name is that of Python."""

from typing import Annotated

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def train(lr: Annotated[float, "learning-rate"] = 0.1) -> float:
    return lr


@pipeline
def nightly() -> None:
    train(lr=0.5)
