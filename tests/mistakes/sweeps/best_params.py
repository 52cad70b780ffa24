"""The parameters of the best trial, as other tools have them."""

from flowdsl import maximize, pipeline, step, sweep


@step(image="pytorch/pytorch:2.7.1")
def train(lr: float) -> float:
    return 1 - lr


@step(image="python:3.12-slim")
def publish(lr: float) -> None:
    print(lr)


@pipeline
def search() -> None:
    runs = sweep(train, over={"lr": [0.1, 0.01]}, objective=maximize())
    publish(runs.best_params["lr"])
