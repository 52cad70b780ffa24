"""Results that are not made: the command does not say where to write them."""

from pathlib import Path

from flowdsl import command, container, output, pipeline


@container(image="trainer:1")
def train(lr: float) -> Path:
    command("/bin/train", lr)


@container(image="trainer:1")
def convert(model: Path) -> Path:
    command("/bin/convert", model, output("modle"))


@pipeline
def nightly() -> None:
    convert(train(0.1))
