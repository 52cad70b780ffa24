"""Misspelt options of a pipeline and of a step."""

from flowdsl import pipeline, step


@step(imagee="python:3.12-slim", gpus=1)
def train(lr: float) -> None:
    print(lr)


@pipeline(paralelism=4, entrypoint="train")
def nightly() -> None:
    train(0.1)
