"""An objective that is no number."""

from typing import NamedTuple

from flowdsl import maximize, pipeline, step, sweep


class Trained(NamedTuple):
    accuracy: float
    report: str


@step(image="pytorch/pytorch:2.7.1")
def train(lr: float) -> Trained:
    return Trained(1 - lr, str(lr))


@pipeline
def search() -> None:
    sweep(train, over={"lr": [0.1, 0.01]}, objective=maximize("report"))
