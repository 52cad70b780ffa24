"""Mounts that no pod can have."""

from flowdsl import Volume, pipeline, step

DATA = Volume("datasets")
MODELS = Volume("models")


@step(image="python:3.12-slim", mounts={"data": DATA})
def relative(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", mounts={"/data": "datasets"})
def by_name(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", mounts={"/data": DATA, "/data/": MODELS})
def twice(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", mounts={DATA: "/data"})  # type: ignore[dict-item]  # the mistake
def turned(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    relative(0.1)
    by_name(0.1)
    twice(0.1)
    turned(0.1)
