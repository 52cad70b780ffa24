"""The decorator of the pipeline is missing."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def train(lr: float) -> None:
    print(lr)


def nightly() -> None:
    train(0.1)
