"""Mounts where flowdsl has something of its own."""

from flowdsl import Scratch, Volume, pipeline, step

DATA = Volume("datasets")


@step(image="python:3.12-slim", shm="8Gi", mounts={"/dev/shm": Scratch("1Gi"), "/tmp/flowdsl/in": DATA})
def train(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", mounts={"/work/../data": Scratch("2GB")})
def clean(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    train(0.1)
    clean(0.1)
