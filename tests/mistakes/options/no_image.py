"""A step without an image."""

from flowdsl import pipeline, step


@step(cpu=2)
def train(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    train(0.1)
