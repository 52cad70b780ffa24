"""A cached step without a result."""

from pathlib import Path

from flowdsl import S3, pipeline, step


@step(image="python:3.12-slim", cache=True)
def publish(model: Path) -> None:
    print(model)


@pipeline
def nightly() -> None:
    publish(S3("models/base.bin"))
