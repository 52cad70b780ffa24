"""The misspelt policy of a retry."""

from flowdsl import Retry, pipeline, step


@step(image="python:3.12-slim", retries=Retry(2, policy="OnFailures"))
def train() -> None: ...


@pipeline
def nightly() -> None:
    train()
