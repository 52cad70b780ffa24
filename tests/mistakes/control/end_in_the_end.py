"""The end of the run inside the end of the run."""

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
        tell("over")
        with on_exit():
            tell.options(name="again")("still over")
