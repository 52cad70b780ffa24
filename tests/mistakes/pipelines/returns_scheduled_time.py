"""A pipeline returns when it was due, which the outputs of a graph cannot say."""

from flowdsl import pipeline, run, step


@step(image="python:3.12-slim")
def load(due: str) -> int:
    return len(due)


@pipeline
def nightly() -> tuple[int, str]:
    return load(run.scheduled_time), run.scheduled_time
