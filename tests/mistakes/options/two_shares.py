"""Two shares, which may be of one device."""

from flowdsl import GPU, pipeline, step


@step(image="python:3.12-slim", gpu=GPU(2, share="8Gi"))
def train(rate: float) -> float:
    return 1 - rate


@pipeline
def nightly() -> None:
    train(0.1)
