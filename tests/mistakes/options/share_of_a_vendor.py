"""A share of a vendor's GPU that nobody knows how to ask for."""

from flowdsl import GPU, pipeline, step


@step(image="python:3.12-slim", gpu=GPU(1, share="8Gi", vendor="amd"))
def train(rate: float) -> float:
    return 1 - rate


@pipeline
def nightly() -> None:
    train(0.1)
