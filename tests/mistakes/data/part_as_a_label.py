"""A part of a record that becomes a label of the pod, and is none."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import pipeline, step


class Model(NamedTuple):
    weights: Path
    name: str


@step(image="python:3.12-slim")
def make() -> Path:
    weights = Path("weights.txt")
    weights.write_text("0.5")
    return weights


@step(image="python:3.12-slim", argo={"metadata": {"labels": {"model": "{{inputs.parameters.model-name}}"}}})
def publish(epochs: int, model: Model) -> None:
    print(epochs, model.name)


@pipeline
def nightly() -> None:
    publish(3, Model(make(), "large and small"))
