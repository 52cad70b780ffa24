"""A command whose f was forgotten."""

from flowdsl import command, container, pipeline


@container(image="python:3.12-slim")
def train(lr: float) -> None:
    command("python", "train.py", "--lr={lr}", "--out", "${OUT}/{step}.bin")


@container(image="python:3.12-slim")
def test(lr: float) -> None:
    command("python test.py --lr {lr} --name=lr-{lr}")


@pipeline
def nightly() -> None:
    train(0.1)
    test(0.1)
