"""A misspelt pull policy."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim", image_pull_policy="IfNotPresnt")
def load(table: str) -> int:
    return len(table)


@pipeline
def nightly(table: str = "orders") -> None:
    load(table)
