"""What several pipelines return without saying so, each time another type."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import Volume, pipeline, step

DATA = Volume("datasets")


class Trained(NamedTuple):
    model: Path
    loss: float


@step(image="python:3.12-slim")
def train(n: int) -> Trained:
    return Trained(Path("model"), 1 / n)


@pipeline
def parts():
    trained = train(1)
    return trained.model, trained.loss


@pipeline
def losses():
    return [train.options(name=f"train-{n}")(n).loss for n in (1, 2)]


@pipeline
def by_name():
    return {"one": train(1), "other": Trained(DATA / "model", 1.0)}


@pipeline
def folder():
    return DATA / "models"


@pipeline
def mixed():
    return [train(1).loss, "two", object()]
