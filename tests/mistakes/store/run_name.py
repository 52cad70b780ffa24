"""A place for files with the name of the run in it."""

from pathlib import Path

from flowdsl import Volume, pipeline, run, step

DATA = Volume("datasets")


@step(image="python:3.12-slim")
def train(lr: float) -> Path:
    model = Path("model.bin")
    model.write_text(str(lr))
    return model


@pipeline
def nightly() -> None:
    train.options(store=DATA / run.name)(0.1)
