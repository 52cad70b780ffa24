"""Volumes without a path, without a volume, with a name that no claim has, and two at one path."""

from flowdsl import Volume, pipeline, step

DATA = Volume("My_PVC")
MODELS = Volume("models")


@step(image="python:3.12-slim", mounts=[MODELS])
def no_path(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", mounts={"": MODELS})
def empty_path(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", mounts={"data": MODELS})
def relative(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", mounts={"/data": "models"})
def no_volume(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", mounts={"/data": DATA, "/data/": MODELS})
def two_at_one_path(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    no_path(0.1)
    empty_path(0.1)
    relative(0.1)
    no_volume(0.1)
    two_at_one_path(0.1)
