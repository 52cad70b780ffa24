"""The misspelt names of queues, of a step and of a whole run."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim", gpu=1, queue="nightli")
def train(rate: float) -> float:
    return 1 - rate


@pipeline(queue="reserch")
def nightly() -> None:
    train(0.1)
