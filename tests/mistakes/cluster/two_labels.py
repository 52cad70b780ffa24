"""A pool, and a label that its nodes do not have."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim", gpu=1, pool="gpu-new", node={"pool": "gpu-old"})
def train(rate: float) -> float:
    return 1 - rate


@pipeline
def nightly() -> None:
    train(0.1)
