"""A pipeline that calls itself to try again."""

from flowdsl import pipeline, step, when


@step(image="python:3.12-slim")
def improve(score: float) -> float:
    return score * 1.1


@pipeline
def until_good(score: float = 0.5) -> None:
    better = improve(score)
    with when(better < 0.9):
        until_good(better)
