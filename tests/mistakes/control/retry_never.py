"""A retry that never happens."""

from flowdsl import Retry, pipeline, step


@step(image="python:3.12-slim", retries=Retry(0))
def train() -> None: ...


@pipeline
def nightly() -> None:
    train()
