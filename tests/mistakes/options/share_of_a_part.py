"""A share of a part of a GPU."""

from flowdsl import GPU, pipeline, step


@step(image="python:3.12-slim", gpu=GPU(1, mig="1g.5gb", share="8Gi"))
def train(rate: float) -> float:
    return 1 - rate


@pipeline
def nightly() -> None:
    train(0.1)
