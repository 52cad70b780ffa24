"""A pipeline without a schedule that a user has suspended."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@pipeline(suspend=True, image_pull_secrets="registry", user=0, ttl="48h", pod_labels={"team": "search"})
def daily(table: str) -> None:
    load(table)
