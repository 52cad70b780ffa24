from pathlib import Path

from flowdsl import Volume, pipeline, run, step


@step(image="python:3.12-slim")
def train(rate: float, folder: Path) -> float:
    return 1 - rate


@pipeline
def part(rate: float) -> float:
    return train(rate, run.checkpoint_dir)


@pipeline(checkpoints=Volume("datasets") / "checkpoints")
def nightly() -> None:
    part(0.1)
