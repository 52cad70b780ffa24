"""A field of a result, asked of the step itself."""

from typing import NamedTuple

from flowdsl import pipeline, step


class Trained(NamedTuple):
    loss: float
    steps: int


@step(image="python:3.12-slim")
def train(lr: float) -> Trained:
    return Trained(1 - lr, 10)


@step(image="python:3.12-slim")
def report(loss: float) -> None:
    print(loss)


@pipeline
def nightly() -> None:
    report(train.loss)
    report.options(name="again")(train(0.1).loss)
