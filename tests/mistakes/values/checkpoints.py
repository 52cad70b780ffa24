"""A folder for checkpoints where none can be."""

from pathlib import Path

from flowdsl import Volume, fan_out, pipeline, run, step

IMAGE = "python:3.12-slim"
DATA = Volume("datasets")


@step(image=IMAGE)
def train(rate: float, folder: Path = run.checkpoint_dir) -> float:
    return 1 - rate


@step(image=IMAGE, checkpoints="datasets")
def tune(loss: float, folder: Path) -> float:
    return loss


@step(image=IMAGE, checkpoints=DATA.ro)
def judge(loss: float, folders: list[Path]) -> None:
    print(loss)


@pipeline
def inner(folder: Path) -> float:
    return tune(0.5, folder)


@pipeline
def nightly() -> None:
    loss = train(0.1)
    judge(loss, [run.checkpoint_dir])
    inner(run.checkpoint_dir)
    fan_out(tune, over={"folder": [run.checkpoint_dir], "loss": [0.1]})
