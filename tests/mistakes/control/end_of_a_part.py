"""The end of the run in a pipeline that another one calls."""

from flowdsl import on_failure, pipeline, step


@step(image="python:3.12-slim")
def train(size: int) -> float:
    return size / 2


@pipeline
def part() -> float:
    loss = train(1)
    with on_failure():
        train(0)
    return loss


@pipeline
def nightly() -> None:
    part()
