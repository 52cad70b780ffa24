"""A misspelt output of a step with several."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import pipeline, step


class Trained(NamedTuple):
    model: Path
    accuracy: float


@step(image="python:3.12-slim")
def train(lr: float) -> Trained:
    model = Path("model.bin")
    model.write_text(str(lr))
    return Trained(model, 1 - lr)


@step(image="python:3.12-slim")
def publish(model: Path, accuracy: float) -> None:
    print(model, accuracy)


@pipeline
def nightly() -> None:
    trained = train(0.1)
    publish(trained.model, trained.acuracy)
