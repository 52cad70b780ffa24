"""A folder for checkpoints, and no volume for it."""

from pathlib import Path

from flowdsl import pipeline, run, step


@step(image="python:3.12-slim")
def train(rate: float, folder: Path) -> float:
    return 1 - rate


@pipeline
def nightly() -> None:
    train(0.1, run.checkpoint_dir)
