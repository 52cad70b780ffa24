from flowdsl import choice, maximize, pipeline, step, sweep


@step(image="python:3.12-slim")
def train(rate: float, layers: list[int], seed: int) -> float:
    return rate * len(layers) * seed


@pipeline
def search() -> None:
    sweep(
        train,
        over={"rate": [0.1, 0.2, 0.3], "layers": choice([64, 32], [32, 64]), "seed": [1, 2]},
        objective=maximize(),
    )
