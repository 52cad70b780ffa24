from pathlib import Path

from flowdsl import Cache, Volume, pipeline, step

DATA = Volume("datasets")


@step(image="python:3.12-slim", cache=Cache(salt="2024-06"))
def count(table: Path) -> int:
    return len(table.read_bytes())


@pipeline
def nightly() -> None:
    count(DATA / "table.csv")
