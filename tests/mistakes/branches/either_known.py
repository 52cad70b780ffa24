"""`either` of a value that is known now."""

from flowdsl import either, pipeline, step


@step(image="python:3.12-slim")
def train(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    train(either(None, 0.1))
