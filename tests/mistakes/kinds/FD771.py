"""A command written as one text."""

from flowdsl import command, container, pipeline


@container(image="trainer:1")
def train() -> None:
    command("python train.py --lr 0.1")


@pipeline
def nightly() -> None:
    train()
