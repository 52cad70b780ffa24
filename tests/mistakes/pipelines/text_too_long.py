"""A value that no container can be given."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def count(text: str) -> int:
    return len(text)


@pipeline
def nightly() -> None:
    count("lorem ipsum " * 20_000)
