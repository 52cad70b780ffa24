from pathlib import Path

from flowdsl import Volume, pipeline, step

DATA = Volume("datasets")


@step(image="python:3.12-slim")
def load() -> Path:
    return Path("table")


@pipeline
def prepare() -> Path:
    return load()


@pipeline
def nightly() -> Path:
    return prepare.options(store=DATA / "runs")()
