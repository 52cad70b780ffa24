from pathlib import Path

from flowdsl import Volume, pipeline, run, step


@step(image="python:3.12-slim")
def train(rate: float, folder: Path) -> float:
    return 1 - rate


@pipeline(checkpoints=Volume("datasets") / "checkpoints")
def nightly() -> None:
    train(0.1, run.checkpoint_dir)
