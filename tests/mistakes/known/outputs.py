"""Outputs that no step has: a misspelt field, a field of a plain result, an output asked for by its name."""

from typing import NamedTuple

from flowdsl import pipeline, step


class Trained(NamedTuple):
    accuracy: float
    epochs: int


@step(image="python:3.12-slim")
def train(lr: float) -> Trained:
    return Trained(lr, 3)


@step(image="python:3.12-slim")
def load(table: str) -> str:
    return table


@step(image="python:3.12-slim")
def publish(table: str, accuracy: float) -> None:
    print(table, accuracy)


@pipeline
def nightly() -> None:
    trained = train(0.1)
    publish(load("orders").reslt, trained.acuracy)
    publish.options(name="again")(load("users").outputs["output"], trained["accuracy"])
    publish.options(name="last")("events", trained.y)
