"""A command written as one text."""

from flowdsl import command, container, pipeline


@container(image="trainer:1")
def train(lr: float) -> None:
    command(f"python train.py --lr {lr}")


@pipeline
def nightly() -> None:
    train(0.1)
