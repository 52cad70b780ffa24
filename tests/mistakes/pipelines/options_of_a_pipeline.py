"""Options of a step where a pipeline is called."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def train(lr: float) -> None:
    print(lr)


@pipeline
def child(lr: float) -> None:
    train(lr)


@pipeline
def nightly() -> None:
    child.options(timeout="2h")(0.1)
