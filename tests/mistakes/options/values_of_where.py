"""Values in `where` that no label can have."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim", where="zone in ('eu 1', eu-2)")
def train(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    train(0.1)
