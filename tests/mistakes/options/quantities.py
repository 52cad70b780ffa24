"""Amounts that Kubernetes does not read."""

from flowdsl import GPU, pipeline, step


@step(image="python:3.12-slim", cpu="four", memory="8GB")
def train(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", cpu=-1, memory="4 Gi", gpu=GPU(1, memory="40GB"))
def evaluate(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", memory=[4, "Gi"])
def publish(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    train(0.1)
    evaluate(0.1)
    publish(0.1)
