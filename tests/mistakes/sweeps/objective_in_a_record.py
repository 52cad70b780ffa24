"""Objectives inside of a record that is one of the outputs."""

from typing import NamedTuple

from flowdsl import maximize, minimize, pipeline, step, sweep


class Metrics(NamedTuple):
    loss: float
    accuracy: float


class Trained(NamedTuple):
    name: str
    metrics: Metrics


@step(image="python:3.12-slim")
def train(rate: float) -> Trained:
    return Trained("a", Metrics(rate, 1 - rate))


@pipeline
def search() -> None:
    sweep(train, over={"rate": [0.1, 0.2]}, objective=maximize("metrics.accuracy"))
    sweep(train.options(name="loss"), over={"rate": [0.1, 0.2]}, objective=minimize("loss"))
    sweep(train.options(name="whole"), over={"rate": [0.1, 0.2]}, objective=minimize("metrics"))
