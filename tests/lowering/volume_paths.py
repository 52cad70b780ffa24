"""Paths on volumes whose folders are values of the run."""

from pathlib import Path

from flowdsl import Scratch, Volume, pipeline, run, step

DATA = Volume("data")


@step(image="python:3.12-slim", mounts={"/tmp": Scratch()})
def size(table: Path) -> int:
    return table.stat().st_size


@pipeline
def volume_paths(day: str = "monday") -> int:
    first = size(DATA / day / "t.csv")
    second = size(DATA / run.name / "t.csv")
    third = size(DATA / "x" / day / "b")
    return first + second + third
