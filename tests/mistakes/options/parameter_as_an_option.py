"""A parameter of a step, and one of a pipeline, among the options of a call."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def train(rate: float = 0.1) -> float:
    return rate


@pipeline
def trial(rate: float = 0.1) -> float:
    return train(rate)


@pipeline
def nightly() -> None:
    train.options(rate=0.2, memory="8Gi")()
    trial.options(rate=0.3)()
