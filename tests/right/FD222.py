from pathlib import Path

from flowdsl import Volume, pipeline, step

HOME = Volume("home")


@step(image="python:3.12-slim")
def preprocess(raw: Path) -> int:
    return raw.stat().st_size


@pipeline
def nightly() -> None:
    preprocess(HOME / "data/raw.csv")
