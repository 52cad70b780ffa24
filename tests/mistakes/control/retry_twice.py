"""A retry with exit codes and an expression."""

from flowdsl import Retry, pipeline, step


@step(image="python:3.12-slim", retries=Retry(2, exit_codes=[1], expression="asInt(lastRetry.exitCode) > 1"))
def train() -> None: ...


@pipeline
def nightly() -> None:
    train()
