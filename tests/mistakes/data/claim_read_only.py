"""A claim that is only ever read, mounted to be written to."""

from flowdsl import Volume, pipeline, step

DATA = Volume("datasets", mode="ReadOnlyMany")


@step(image="python:3.12-slim", mounts={"/data": DATA / "raw"})
def train(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    train(0.1)
