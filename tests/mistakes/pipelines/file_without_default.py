"""Files as parameters of a pipeline: a run could not be given any."""

from pathlib import Path

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def count(table: Path) -> int:
    return len(table.read_text())


@step(image="python:3.12-slim")
def total(tables: list[Path]) -> int:
    return len(tables)


@pipeline
def nightly(table: Path, tables: list[Path]) -> None:
    count(table)
    total(tables)
