"""Bounds in a tuple, as other tools take them: a tuple is a choice, as a list is."""

from flowdsl import maximize, pipeline, step, sweep


@step(image="python:3.12-slim")
def train(rate: float, layers: int, dropout: float, momentum: float, units: int, seed: int = 0) -> float:
    return rate * layers * dropout * momentum * units


@pipeline
def search() -> None:
    sweep(
        train,
        over={
            "rate": (1e-4, 1.0),
            "layers": (1, 8),
            "dropout": (0, 0.5),
            "momentum": [0.0, 0.9],
            "units": (64, 32),
            "seed": (1, 2, 3),
        },
        search="tpe",
        trials=20,
        parallel=4,
        objective=maximize(),
    )
    sweep(train.options(name="few"), over={"rate": (0.1, 0.2)}, layers=1, dropout=0.1, momentum=0.9, units=8, objective=maximize())
