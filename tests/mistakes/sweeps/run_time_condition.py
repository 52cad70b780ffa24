"""A condition on a parameter whose values are known only at run time."""

from flowdsl import choice, maximize, pipeline, step, sweep, uniform


@step(image="pytorch/pytorch:2.7.1")
def train(layers: int, dropout: float = 0.0) -> float:
    return layers * dropout


@pipeline
def search(layers: int = 4) -> None:
    sweep(
        train,
        over={"layers": choice(2, layers), "dropout": uniform(0.0, 0.5).when("layers > 3")},
        objective=maximize(),
        trials=20,
    )
