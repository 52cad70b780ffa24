"""An escape character in a comment."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def report(rows: int) -> str:
    # in bold: [1m
    return f"rows: {rows}"


@pipeline
def nightly() -> None:
    report(5)
