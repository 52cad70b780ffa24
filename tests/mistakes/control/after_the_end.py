"""A value made when the run has ended."""

from flowdsl import on_exit, pipeline, step


@step(image="python:3.12-slim")
def train(size: int) -> float:
    return size / 2


@step(image="python:3.12-slim")
def tell(text: str) -> str:
    return text


@pipeline
def nightly() -> None:
    train(1)
    with on_exit():
        said = tell("over")
    tell.options(name="again")(said)
