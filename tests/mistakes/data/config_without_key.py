"""A ConfigMap without a key as one variable."""

from flowdsl import Config, pipeline, step


@step(image="python:3.12-slim", env={"LEVEL": Config("app")})
def train(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    train(0.1)
