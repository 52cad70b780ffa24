from pathlib import Path
from typing import NamedTuple

from flowdsl import S3, pipeline, step


class Found(NamedTuple):
    file: Path
    rows: int


@step(image="python:3.12-slim")
def count(file: Path) -> Found:
    return Found(file, len(file.read_text()))


@pipeline
def newest(month: str) -> Found:
    return count(S3(f"raw/{month}.csv"))


@pipeline
def nightly(month: str = "2026-11") -> Path:
    found = newest(month)
    count.options(name="again")(found.file)
    return found.file
