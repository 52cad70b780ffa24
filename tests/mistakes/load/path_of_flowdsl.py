"""The type of files is that of the standard library."""

from flowdsl import Path, pipeline, step


@step(image="python:3.12-slim")
def report(rows: Path) -> Path:
    return rows


@pipeline
def main(rows: Path) -> None:
    report(rows)
