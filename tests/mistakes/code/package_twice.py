"""One package asked for twice."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim", packages=["numpy==2.1", "NumPy==2.0"])
def load(rows: int) -> int:
    return rows


@pipeline
def nightly() -> None:
    load(3)
