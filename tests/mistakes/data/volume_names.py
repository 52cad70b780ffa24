"""Volumes that are named by something else than a text, and that several steps write to."""

from flowdsl import NewVolume, pipeline, step

WORK = NewVolume(["work"], "10Gi")


@step(image="python:3.12-slim", mounts={"/work": WORK})
def clean(table: str) -> None:
    print(table)


@pipeline
def nightly() -> None:
    clean.options(name="first")("a")
    clean.options(name="second")("b")
