"""An option that writes a field which an older Argo does not have."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim", queue_timeout="1h")
def train(rate: float) -> float:
    return 1 - rate


@pipeline
def nightly() -> None:
    train(0.1)
