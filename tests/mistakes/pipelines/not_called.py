"""The decorator of a step without its parentheses."""

from flowdsl import pipeline, step


@step
def train(lr: float) -> float:
    return 1 - lr


@pipeline
def nightly() -> None:
    train(0.1)
