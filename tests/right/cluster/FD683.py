from pathlib import Path

from flowdsl import Volume, pipeline, step

DATA = Volume("datasets", mode="ReadWriteOnce")


@step(image="python:3.12-slim")
def count(lines: Path) -> int:
    return len(lines.read_text().splitlines())


@pipeline
def nightly() -> None:
    count(DATA / "lines.txt")
