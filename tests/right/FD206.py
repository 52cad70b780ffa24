from typing import NamedTuple

from flowdsl import maximize, pipeline, step, sweep


class Trained(NamedTuple):
    accuracy: float
    epochs: int


@step(image="pytorch/pytorch:2.7.1")
def train(lr: float) -> Trained:
    return Trained(1 - lr, 3)


@step(image="python:3.12-slim")
def publish(accuracy: float) -> None:
    print(accuracy)


@pipeline
def search() -> None:
    runs = sweep(train, over={"lr": [0.1, 0.01]}, objective=maximize("accuracy"))
    publish(runs.best.accuracy)
