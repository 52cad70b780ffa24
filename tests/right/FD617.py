from pathlib import Path

from flowdsl import call_template, pipeline, step


@call_template("library", "train", names={"return": "model"})
def train(rate: float) -> Path:
    raise NotImplementedError


@step(image="python:3.12-slim")
def show(model: Path) -> None:
    print(model)


@pipeline
def part(rate: float) -> None:
    show(train(rate))


@pipeline
def nightly(rate: float = 0.5) -> None:
    part(rate)
