"""The folder of checkpoints as the default of a parameter of the run."""

from pathlib import Path

from flowdsl import Volume, pipeline, run, step


@step(image="python:3.12-slim")
def train(state: Path) -> int:
    return len(list(state.iterdir()))


@pipeline(checkpoints=Volume("datasets") / "checkpoints")
def main(state: Path = run.checkpoint_dir) -> None:
    train(state)
