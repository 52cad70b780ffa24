"""Ways to pack that Argo does not have, and for outputs that are no files."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import pipeline, step


class Trained(NamedTuple):
    model: Path
    loss: float


@step(image="python:3.12-slim", archive="zpi")
def train(lr: float) -> Trained:
    return Trained(Path("model.bin"), lr)


@step(image="python:3.12-slim", archive={"model": 12})
def again(lr: float) -> Trained:
    return Trained(Path("model.bin"), lr)


@step(image="python:3.12-slim", archive="none")
def score(model: Path) -> float:
    return float(model.stat().st_size)


@step(image="python:3.12-slim", archive={"model": 9, "loss": "zip", "modle": "none"})
def third(lr: float) -> Trained:
    return Trained(Path("model.bin"), lr)


@pipeline
def nightly() -> None:
    score(train(0.1).model)
    again(0.2)
    third(0.3)
