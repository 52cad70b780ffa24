"""Two equals signs too few in a requirement."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim", packages=["numpy 2.1"])
def load(rows: int) -> int:
    return rows


@pipeline
def nightly() -> None:
    load(3)
