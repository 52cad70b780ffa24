"""A new volume that nothing could fill."""

from flowdsl import NewVolume, pipeline, step

WORK = NewVolume("work", "10Gi", mode="ReadOnlyMany")


@step(image="python:3.12-slim", mounts={"/work": WORK.ro})
def train(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    train(0.1)
