"""The failure of a text."""

from flowdsl import on_failure, pipeline, step


@step(image="python:3.12-slim")
def train(size: int) -> float:
    return size / 2


@step(image="python:3.12-slim")
def tell(text: str) -> str:
    return text


@pipeline
def nightly(size: int = 1) -> None:
    loss = train(size)
    with on_failure("train"):
        tell("failed")
