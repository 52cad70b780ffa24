"""A word of the language that is given one of its arguments twice."""

from flowdsl import GPU, pipeline, step


@step(image="python:3.12-slim", gpu=GPU(1, count=2))
def train(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    train(0.1)
