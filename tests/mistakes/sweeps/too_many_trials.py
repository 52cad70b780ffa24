"""More trials than the space has points."""

from flowdsl import choice, maximize, pipeline, step, sweep


@step(image="pytorch/pytorch:2.7.1")
def train(lr: float, layers: int = 2) -> float:
    return lr * layers


@pipeline
def search() -> None:
    some = choice(1, 2, 4)
    sweep(train, over={"lr": [0.1, 0.01], "layers": some}, trials=20, objective=maximize())
