"""A folder for checkpoints, handed to a pipeline."""

from pathlib import Path

from flowdsl import Volume, pipeline, run, step


@step(image="python:3.12-slim")
def train(rate: float, folder: Path) -> float:
    return 1 - rate


@pipeline
def part(rate: float, folder: Path) -> float:
    return train(rate, folder)


@pipeline(checkpoints=Volume("datasets") / "checkpoints")
def nightly() -> None:
    part(0.1, run.checkpoint_dir)
