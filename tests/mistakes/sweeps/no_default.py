"""A parameter that is not searched in every trial, and has no value for the others."""

from flowdsl import integer, maximize, pipeline, step, sweep, uniform


@step(image="pytorch/pytorch:2.7.1")
def train(layers: int, dropout: float) -> float:
    return layers * dropout


@pipeline
def search() -> None:
    sweep(
        train,
        over={"layers": integer(1, 8), "dropout": uniform(0.0, 0.5).when("layers > 3")},
        objective=maximize(),
        trials=20,
    )
