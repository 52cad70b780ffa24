"""A claim that is not as it is on the cluster."""

from pathlib import Path

from flowdsl import Volume, pipeline, step

DATA = Volume("datasets")
RAW = Volume("datasets", mode="ReadWriteMany")


@step(image="python:3.12-slim", mounts={"/raw": RAW.ro})
def count(lines: Path) -> int:
    return len(lines.read_text().splitlines())


@pipeline
def nightly() -> None:
    count(DATA / "lines.txt")
