"""Methods that steps have in other tools: a step is called, `fan_out` loops, and `.options` changes it."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def score(n: int) -> int:
    return n


@pipeline
def looped() -> None:
    score.map([1, 2, 3])


@pipeline
def submitted() -> None:
    score.submit(1)


@pipeline
def changed() -> None:
    score.with_options(memory="8Gi")(1)
