"""Labels that no node can have."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim", node={"a b!": "ssd"})
def key(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", node={"disk": "very fast"})
def value(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", node={"nvidia.com/gpu": "1"})
def device(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    key(0.1)
    value(0.1)
    device(0.1)
