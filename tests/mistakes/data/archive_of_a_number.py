"""A way of packing for a number."""

from pathlib import Path

from flowdsl import S3, pipeline, step


@step(image="python:3.12-slim", archive="zip")
def score(model: Path) -> float:
    return float(model.stat().st_size)


@pipeline
def nightly() -> None:
    score(S3("models/base.bin"))
