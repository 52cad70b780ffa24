"""A file as the parameter of a pipeline: a run could not be given one."""

from pathlib import Path

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def count(table: Path) -> int:
    return len(table.read_text())


@pipeline
def nightly(table: Path) -> None:
    count(table)
