"""A volume, given to code that wants a path of this machine."""

from pathlib import Path

from flowdsl import Volume, pipeline, step

DATA = Volume("datasets")


@step(image="python:3.12-slim")
def count(folder: Path) -> int:
    return len(list(folder.iterdir()))


@pipeline
def nightly() -> int:
    return count(Path(DATA) / "raw")
