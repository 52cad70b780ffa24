"""The whole result of a step, a sweep or a loop where a part of it is wanted."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import Volume, fan_out, maximize, pipeline, step, sweep

DATA = Volume("datasets")


class Trained(NamedTuple):
    model: Path
    accuracy: float


@step(image="python:3.12-slim")
def train(corpus: Path, rate: float = 0.1) -> Trained:
    return Trained(corpus, rate)


@step(image="python:3.12-slim")
def publish(model: Path, accuracy: float = 0.0) -> None:
    print(model, accuracy)


@pipeline
def nightly() -> None:
    trained = train(DATA / "raw.txt")
    publish(trained, trained)
    runs = sweep(train, over={"rate": [0.1, 0.2]}, objective=maximize("accuracy"), corpus=DATA / "raw.txt")
    publish.options(name="best")(runs)
    each = fan_out(train.options(name="again"), over={"rate": [0.1, 0.2]}, corpus=DATA / "raw.txt")
    publish.options(name="last")(each[2].model)


@pipeline
def weekly() -> float:
    return train(DATA / "raw.txt")
