"""Spaces that draw another type than the parameter takes."""

from flowdsl import choice, loguniform, maximize, pipeline, step, sweep, uniform


@step(image="pytorch/pytorch:2.7.1")
def train(lr: float, layers: int, optimizer: str) -> float:
    return lr * layers * len(optimizer)


@pipeline
def search() -> None:
    sweep(
        train,
        over={"lr": loguniform(1e-5, 1e-1), "layers": uniform(1, 4), "optimizer": choice("adam", 2)},
        trials=20,
        objective=maximize(),
    )
