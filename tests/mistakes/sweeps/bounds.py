"""Spaces whose numbers make no sense."""

from flowdsl import choice, integer, loguniform, maximize, normal, pipeline, quniform, step, sweep, uniform


@step(image="pytorch/pytorch:2.7.1")
def train(lr: float, layers: int = 2, dropout: float = 0.1) -> float:
    return lr * layers * dropout


@pipeline
def search(most: float = 0.1) -> None:
    sweep(train, over={"lr": loguniform(0, 1e-1), "layers": integer(4, 2)}, trials=5, objective=maximize())
    sweep(train, over={"lr": uniform(1, "2"), "layers": integer(1, 2.5)}, trials=5, objective=maximize())
    sweep(train, over={"lr": normal(0.1, -1), "dropout": quniform(0, 1, 2)}, trials=5, objective=maximize())
    sweep(train, over={"lr": choice((0.1, 0.2)), "layers": choice([1, 2, 4, 8])}, objective=maximize())
    sweep(train, over={"lr": uniform(0.01, most)}, trials=4, objective=maximize(), layers=2)
