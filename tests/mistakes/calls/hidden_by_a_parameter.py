"""Parameters with the names of a step and a pipeline, which are meant and are not there."""

from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def threshold(score: float) -> float:
    return score / 2


@pipeline
def halves(score: float) -> float:
    return threshold(score)


@pipeline
def nightly(threshold: float = 0.5, halves: float = 0.5) -> None:
    threshold(0.9)
    threshold.options(cpu=2)(0.8)
    fan_out(threshold, over={"score": [0.1, 0.2]})
    halves(0.7)
