from pathlib import Path

from flowdsl import NewVolume, Volume, pipeline, step

DATA = Volume("datasets")
WORK = NewVolume("work", "10Gi")


@step(image="python:3.12-slim", mounts={"/work": WORK})
def train(raw: Path) -> None:
    print(raw)


@pipeline
def nightly() -> None:
    train(DATA / "raw")
