"""The end of the run inside a condition."""

from flowdsl import on_exit, pipeline, step, when


@step(image="python:3.12-slim")
def train(size: int) -> float:
    return size / 2


@step(image="python:3.12-slim")
def tell(text: str) -> str:
    return text


@pipeline
def nightly(loud: bool = False) -> None:
    train(1)
    with when(loud):
        with on_exit():
            tell("done")
