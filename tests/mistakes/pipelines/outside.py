"""Words of the language outside of a pipeline."""

from flowdsl import pipeline, step, when


@step(image="python:3.12-slim")
def train(lr: float) -> float:
    return 1 - lr


with when(train(0.1) > 0.5):
    train(0.2)


@pipeline
def nightly() -> None:
    train(0.1)
