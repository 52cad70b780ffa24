"""The failure of two tasks together."""

from flowdsl import on_failure, pipeline, step


@step(image="python:3.12-slim")
def train(size: int) -> float:
    return size / 2


@step(image="python:3.12-slim")
def tell(text: str) -> str:
    return text


@pipeline
def nightly() -> None:
    small = train(1)
    large = train.options(name="large")(2)
    with on_failure(small + large):
        tell("failed")
