"""A label that Argo writes."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim", labels={"workflows.argoproj.io/workflow": "mine"})
def load(table: str) -> int:
    return len(table)


@pipeline
def nightly(table: str = "orders") -> None:
    load(table)
