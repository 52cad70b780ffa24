"""Pipelines that are called return values that are computed, or taken out of those of their steps."""

from dataclasses import dataclass
from typing import NamedTuple

from flowdsl import pipeline, step


@dataclass
class Metrics:
    loss: float
    accuracy: float


class Trained(NamedTuple):
    model: str
    metrics: Metrics


@step(image="python:3.12-slim")
def evaluate(model: str, fold: int) -> float:
    return len(model) / fold


@step(image="python:3.12-slim")
def train(model: str) -> Trained:
    return Trained(model, Metrics(1.0, 0.0))


@step(image="python:3.12-slim")
def report(score: float) -> None:
    print(score)


@pipeline
def cross_validate(model: str) -> float:
    first = evaluate(model, 1)
    second = evaluate(model, 2)
    return first / second


@pipeline
def measured(model: str) -> Metrics:
    return train(model).metrics


@pipeline
def nightly() -> None:
    report(cross_validate("resnet"))
    report.options(name="loss")(measured("resnet").loss)
