"""Parameters of a step with the names of words of `fan_out`: what is passed does not reach the step."""

from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def score(parallel: int, body: int) -> int:
    return parallel * body


@pipeline
def main() -> None:
    fan_out(score, over={"body": [1, 2]}, parallel=2)
    fan_out(score.options(name="both"), over={"body": [1, 2], "parallel": [2, 2]}, parallel=2)
