"""A new volume whose size lacks its unit."""

from pathlib import Path

from flowdsl import NewVolume, pipeline, step

DATA = NewVolume("data", "10Gi")
WORK = NewVolume("work", "100")


@step(image="python:3.12-slim", mounts={"/data": DATA, "/work": WORK})
def train(lr: float) -> None:
    Path("/data/lr.txt").write_text(str(lr))


@pipeline
def nightly() -> None:
    train(0.1)
