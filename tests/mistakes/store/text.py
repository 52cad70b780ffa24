"""A folder of this machine as the place for files."""

from pathlib import Path

from flowdsl import pipeline, step


@step(image="python:3.12-slim", store="datasets/runs")
def train(lr: float) -> Path:
    model = Path("model.bin")
    model.write_text(str(lr))
    return model


@pipeline
def nightly() -> None:
    train(0.1)
