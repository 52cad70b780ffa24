"""A step and a volume are handed over as they are: the call and the path are missing."""

from pathlib import Path

from flowdsl import Volume, pipeline, step

DATA = Volume("reviews")


@step(image="python:3.12-slim")
def preprocess(raw: Path) -> Path:
    return raw


@step(image="python:3.12-slim")
def train(corpus: Path) -> int:
    return corpus.stat().st_size


@pipeline
def nightly() -> None:
    preprocess(DATA)
    train(preprocess)
