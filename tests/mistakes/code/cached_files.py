"""The files of a cached loop, as one list."""

from pathlib import Path

from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim", cache=True)
def train(lr: float) -> Path:
    model = Path("model.bin")
    model.write_text(str(lr))
    return model


@step(image="python:3.12-slim")
def compare(models: list[Path]) -> None:
    print(models)


@pipeline
def nightly() -> None:
    compare(fan_out(train, over={"lr": [0.1, 0.2]}))
