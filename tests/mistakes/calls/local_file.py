"""A path of the laptop where a file of the cluster is wanted."""

from pathlib import Path

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def preprocess(raw: Path) -> int:
    return raw.stat().st_size


@pipeline
def nightly() -> None:
    preprocess(Path("data/raw.csv"))
    preprocess("/home/me/raw.csv")
