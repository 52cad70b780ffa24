"""A file is read in the pipeline, and not in a step."""

from pathlib import Path

from flowdsl import Volume, pipeline, step

DATA = Volume("reviews")


@step(image="python:3.12-slim")
def train(lr: float) -> Path:
    model = Path("model.bin")
    model.write_text(str(lr))
    return model


@step(image="python:3.12-slim")
def publish(size: int) -> None:
    print(size)


@pipeline
def nightly() -> None:
    model = train(0.1)
    publish(model.stat().st_size)
    publish.options(name="length")(len(model.read_text()))
