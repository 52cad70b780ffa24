"""One name for two volumes: a claim that exists, and one made for the run."""

from pathlib import Path

from flowdsl import NewVolume, Volume, pipeline, step

DATA = Volume("work")
WORK = NewVolume("work", "10Gi")


@step(image="python:3.12-slim", mounts={"/work": WORK})
def train(raw: Path) -> None:
    print(raw)


@pipeline
def nightly() -> None:
    train(DATA / "raw")
