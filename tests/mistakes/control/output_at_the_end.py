"""The output of a task where the run has ended."""

from flowdsl import on_exit, pipeline, step


@step(image="python:3.12-slim")
def train(size: int) -> float:
    return size / 2


@step(image="python:3.12-slim")
def tell(text: str) -> str:
    return text


@pipeline
def nightly() -> None:
    loss = train(1)
    with on_exit():
        tell(f"loss {loss}")
