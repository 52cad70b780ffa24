"""Labels of nodes that are spelled nearly as the short names."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim", where="gpu.memry >= 40Gi and disk == ssd")
def train(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", node={"zones": "eu-1", "example.com/zones": "eu-1"})
def publish(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    train(0.1)
    publish(0.1)
