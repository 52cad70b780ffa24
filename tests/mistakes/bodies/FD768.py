"""A step that says what it returns, and returns nothing."""

from pathlib import Path

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def clean(text: str) -> Path:
    Path("/tmp/clean.txt").write_text(text)


@pipeline
def nightly() -> None:
    clean("a")
