"""Options of one call that are misspelt or wrong."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim", memory="4Gi")
def train(lr: float) -> None:
    print(lr)


@pipeline
def child(lr: float) -> None:
    train(lr)


@pipeline
def nightly() -> None:
    train.options(memroy="8Gi", timeout="2 days")(0.1)
    child.options(timeout="2h")(0.1)
