"""Sweeps that look for a number inside of a record: of steps and of pipelines."""

from dataclasses import dataclass
from typing import NamedTuple

from flowdsl import maximize, minimize, pipeline, step, sweep

PYTHON = "python:3.12-slim"


@dataclass
class Test:
    """What is two records deep."""

    auc: float
    rows: int


@dataclass
class Metrics:
    """One output of a trial."""

    loss: float
    test: Test


class Trained(NamedTuple):
    """What a trial returns."""

    name: str
    metrics: Metrics


@step(image=PYTHON)
def train(x: float) -> Trained:
    """A trial, which fails for 3."""
    if x == 3:
        raise ValueError("3")
    return Trained(f"{x}", Metrics((x - 1.5) ** 2, Test(x, int(x))))


@step(image=PYTHON)
def show(metrics: Metrics, name: str) -> str:
    """The best, as it arrived."""
    return f"{metrics} {name}"


@pipeline
def trial(x: float) -> Trained:
    """A trial that is a pipeline."""
    return train(x)


@pipeline
def measured(x: float = 0.5) -> str:
    """All of it."""
    small = sweep(train, over={"x": [x, 2.25, 3.0]}, objective=minimize("metrics.loss"))
    large = sweep(trial, over={"x": [x, 2.25, 3.0]}, objective=maximize("metrics.test.rows"))
    show(large.best.metrics, large.best.name)
    return show.options(name="shown")(small.best.metrics, small.best.name)
