"""A cached step that is given the name of the run."""

from flowdsl import pipeline, run, step


@step(image="python:3.12-slim", cache=True)
def label(text: str) -> int:
    return len(text)


@pipeline
def nightly() -> None:
    label(f"run of {run.name}")
