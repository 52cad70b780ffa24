"""A place for files on a volume that is only ever read."""

from pathlib import Path

from flowdsl import Volume, pipeline, step

DATA = Volume("datasets", mode="ReadOnlyMany")


@step(image="python:3.12-slim", store=DATA / "runs")
def train(lr: float) -> Path:
    model = Path("model.bin")
    model.write_text(str(lr))
    return model


@pipeline
def nightly() -> None:
    train(0.1)
