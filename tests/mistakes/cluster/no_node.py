"""More memory than any GPU of the cluster has."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim", gpu=1, where="gpu.memory >= 96Gi")
def train(rate: float) -> float:
    return 1 - rate


@pipeline
def nightly() -> None:
    train(0.1)
