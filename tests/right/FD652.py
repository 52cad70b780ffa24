from pathlib import Path

from flowdsl import Volume, pipeline, step

DATA = Volume("datasets")


@step(image="python:3.12-slim")
def count(table: Path) -> int:
    return len(table.read_bytes())


@pipeline
def nightly() -> None:
    count(DATA / "table.csv")
