"""A text literal where a number is wanted."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def train(epochs: int, lr: float, shuffle: bool) -> float:
    return epochs * lr if shuffle else 0.0


@pipeline
def nightly() -> None:
    train(epochs="10", lr="1e-3", shuffle="yes")
