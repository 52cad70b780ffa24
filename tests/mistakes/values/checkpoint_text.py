"""The folder for checkpoints as a part of a text."""

from flowdsl import pipeline, run, step

IMAGE = "python:3.12-slim"
STATE = f"{run.checkpoint_dir}/state"


@step(image=IMAGE, env={"STATE": STATE})
def train(state: str) -> float:
    return 0.5


@step(image=IMAGE)
def judge(loss: float, log: str) -> None:
    print(loss)


@pipeline
def nightly() -> None:
    judge(train(STATE), f"{run.checkpoint_dir}/log")
