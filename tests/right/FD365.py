from flowdsl import choice, integer, loguniform, maximize, pipeline, step, sweep, uniform


@step(image="python:3.12-slim")
def train(rate: float, layers: int, dropout: float, momentum: float, units: int, seed: int = 0) -> float:
    return rate * layers * dropout * momentum * units


@pipeline
def search() -> None:
    sweep(
        train,
        over={
            "rate": loguniform(1e-4, 1.0),
            "layers": integer(1, 8),
            "dropout": uniform(0, 0.5),
            "momentum": choice(0.0, 0.9),
            "units": (64, 32),
            "seed": (1, 2, 3),
        },
        search="tpe",
        trials=20,
        parallel=4,
        objective=maximize(),
    )
