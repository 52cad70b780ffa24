"""A choice between files that a step returns and a list that is written in the pipeline."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import either, pipeline, step, when


class Parts(NamedTuple):
    files: list[Path]
    rows: int


@step(image="python:3.12-slim")
def split(rows: int) -> Parts:
    Path("part").write_text(str(rows))
    return Parts([Path("part")], rows)


@step(image="python:3.12-slim")
def join(parts: Parts) -> int:
    return len(parts.files) + parts.rows


@pipeline
def nightly(rows: int = 3) -> int:
    with when(rows > 1):
        parts = split(rows)
    return join(either(parts, Parts([], 0)))
