"""Checkpoints on a volume without a name."""

from pathlib import Path

from flowdsl import Volume, pipeline, run, step


@step(image="python:3.12-slim")
def train(folder: Path) -> None:
    print(folder)


@pipeline(checkpoints=Volume(None) / "checkpoints")
def nightly() -> None:
    train(run.checkpoint_dir)
