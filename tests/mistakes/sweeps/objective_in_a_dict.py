"""Objectives that are in a dict, of whose keys nothing is known before the run."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import choice, maximize, minimize, pipeline, step, sweep


class Trained(NamedTuple):
    model: Path
    metrics: dict[str, float]


@step(image="python:3.12-slim")
def train(rate: float) -> Trained:
    return Trained(Path("model"), {"auc": rate})


@step(image="python:3.12-slim")
def score(rate: float) -> dict[str, float]:
    return {"loss": rate}


@pipeline
def nightly() -> None:
    rates = choice(0.1, 0.01)
    sweep(train, over={"rate": rates}, objective=maximize("metrics.auc"))
    sweep(train.options(name="whole"), over={"rate": rates}, objective=maximize("metrics"))
    sweep(score, over={"rate": rates}, objective=minimize())
