"""A cached step that reads a file of a volume."""

from pathlib import Path

from flowdsl import Volume, pipeline, step

DATA = Volume("datasets")


@step(image="python:3.12-slim", cache=True)
def count(table: Path) -> int:
    return len(table.read_bytes())


@pipeline
def nightly() -> None:
    count(DATA / "table.csv")
