"""A step that returns a set, and says so."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def words(text: str) -> set[str]:
    return {*text.split()}


@pipeline
def nightly() -> None:
    words("a b a")
