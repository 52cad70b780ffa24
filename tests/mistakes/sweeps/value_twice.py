"""Values that are written twice: the points with them would be tried twice."""

from flowdsl import choice, maximize, pipeline, step, sweep


@step(image="python:3.12-slim")
def train(rate: float, layers: list[int], dropout: float | None) -> float:
    return rate * len(layers) * (dropout or 1.0)


@pipeline
def search() -> None:
    sweep(
        train,
        over={"rate": [1, 0.2, 1.0, 2e-1, 0.3], "layers": [[64, 32], [32, 64]], "dropout": [None, 0.5]},
        objective=maximize(),
    )
    sweep(
        train.options(name="drawn"),
        over={"rate": [*range(1, 5)] * 2, "layers": choice([64], [64]), "dropout": [0.5, None, None]},
        trials=4,
        objective=maximize(),
    )
