"""`&` binds more closely than a comparison."""

from flowdsl import pipeline, step, when


@step(image="python:3.12-slim")
def score(rate: float) -> float:
    return 1 - rate


@pipeline
def nightly(least: float = 0.5) -> None:
    accuracy = score(0.1)
    with when(accuracy > least & accuracy < 0.99):
        score.options(name="again")(0.2)
