"""Pipelines that return a file from outside the run: one that is called, and the one that a run begins with."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import S3, Raw, pipeline, step


class Found(NamedTuple):
    file: Path
    rows: int


@step(image="python:3.12-slim")
def count(file: Path) -> int:
    return len(file.read_text())


@pipeline
def newest(month: str) -> Found:
    file = S3(f"raw/{month}.csv")
    return Found(file, count(file))


@pipeline
def nightly(month: str = "2026-11") -> list[Path]:
    found = newest(month)
    count.options(name="again")(found.file)
    return [found.file, Raw("none")]
