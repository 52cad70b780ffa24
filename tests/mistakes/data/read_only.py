"""Claims that are only ever read, mounted or made to be written to."""

from flowdsl import NewVolume, Volume, pipeline, step

DATA = Volume("datasets", mode="ReadOnlyMany")
WORK = NewVolume("work", "10Gi", mode="ReadOnlyMany")


@step(image="python:3.12-slim", mounts={"/data": DATA / "raw", "/work": WORK.ro})
def train(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    train(0.1)
