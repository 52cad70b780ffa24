"""A value of the run as the name of a variable."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def named() -> str:
    return "LEVEL"


@step(image="python:3.12-slim")
def train(rate: float) -> float:
    return rate


@pipeline
def nightly() -> None:
    name = named()
    train.options(env={name: "debug"})(0.1)
