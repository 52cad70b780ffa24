"""A text instead of a lock."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim", locks=["gpu"])
def train() -> None: ...


@pipeline
def nightly() -> None:
    train()
