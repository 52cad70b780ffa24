"""A choice between files that a pipeline is given, of which the first may be missing: one mistake, told where it is."""

from pathlib import Path

from flowdsl import either, fan_out, otherwise, pipeline, step, when


@step(image="python:3.12-slim")
def note(rows: int) -> Path | None:
    return None


@step(image="python:3.12-slim")
def read(note: Path | None) -> int:
    return 0 if note is None else 1


@pipeline
def part(note: Path | None) -> None:
    read(note)


@pipeline
def nightly(more: bool = False) -> None:
    with when(more):
        first = note(1)
    with otherwise():
        second = note(2)
    part(either(first, second))
    fan_out(part.options(name="parts"), over={"note": [either(first, second)]})
