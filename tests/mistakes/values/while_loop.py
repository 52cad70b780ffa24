"""A `while` that asks for the result of a step."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def improve(score: float) -> float:
    return score * 1.1


@pipeline
def until_good() -> None:
    score = improve(0.5)
    while score < 0.9:
        score = improve(score)
