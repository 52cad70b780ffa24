"""Packages as pip would not read them."""

from flowdsl import command, container, pipeline, step

IMAGE = "python:3.12-slim"


@step(image=IMAGE, packages=["numpy=2.1", "--upgrade"])
def load(rows: int) -> int:
    import numpy

    return int(numpy.ones(rows).sum())


@step(image=IMAGE, packages=["numpy==2.1", "NumPy==2.2", "torch==2.*; python_version > 3"])
def train(rows: int) -> int:
    return rows


@step(image=IMAGE, packages="numpy==2.1")
def report(rows: int) -> None:
    print(rows)


@container(image="busybox", packages=["numpy==2.1"])
def notify(rows: int) -> None:
    command("echo", rows)


@pipeline
def nightly() -> None:
    rows = train(load(3))
    report(rows)
    notify(rows)
