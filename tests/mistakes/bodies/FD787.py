"""Statements that name a step, or give it options, and do not call it."""

from flowdsl import GPU, pipeline, step, when


@step(image="python:3.12-slim")
def train(rate: float) -> float:
    return rate * 2


@step(image="python:3.12-slim")
def tell() -> None:
    print("done")


@pipeline
def nightly(rate: float = 0.1) -> None:
    score = train(rate)
    train.options(gpu=GPU(1), memory="8Gi")
    tell
    with when(score > 0.5):
        tell()
        tell.options(name="again")
