from pathlib import Path

from flowdsl import Volume, pipeline, step

DATA = Volume("datasets")


@step(image="python:3.12-slim", store=DATA / "counts")
def count(table: Path) -> int:
    return len(table.read_bytes())


@step(image="python:3.12-slim")
def show(lines: int) -> None:
    print(lines)


@pipeline
def nightly() -> None:
    lines = count(DATA / "table.csv")
    show.options(store=DATA / "shown")(lines)
