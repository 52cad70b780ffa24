"""Objectives that are taken of the step, and names of what is one result."""

from flowdsl import maximize, minimize, pipeline, step, sweep, uniform


@step(image="python:3.12-slim")
def train(lr: float) -> float:
    return 1 - lr


@step(image="python:3.12-slim")
def measure(lr: float) -> dict[str, float]:
    return {"auc": lr}


@pipeline
def by_field() -> None:
    sweep(train, over={"lr": uniform(0, 1)}, trials=3, objective=minimize(train.loss))


@pipeline
def by_name() -> None:
    sweep(train, over={"lr": uniform(0, 1)}, trials=3, objective=minimize("loss"))


@pipeline
def by_key() -> None:
    sweep(measure, over={"lr": uniform(0, 1)}, trials=3, objective=maximize("metrics.auc"))
