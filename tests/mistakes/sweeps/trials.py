"""Numbers of trials that do not fit the search."""

from flowdsl import choice, loguniform, maximize, pipeline, step, sweep


@step(image="pytorch/pytorch:2.7.1")
def train(lr: float, layers: int = 2) -> float:
    return lr * layers


@pipeline
def search() -> None:
    rates = loguniform(1e-5, 1e-1)
    some = choice(1, 2, 4)
    sweep(train, over={"lr": rates}, search="random", objective=maximize())
    sweep(train, over={"lr": rates, "layers": some}, objective=maximize())
    sweep(train, over={"lr": [0.1, 0.01], "layers": some}, search="grid", trials=5, objective=maximize())
    sweep(train, over={"lr": [0.1, 0.01], "layers": some}, trials=20, objective=maximize())
    sweep(train, over={"lr": rates}, trials=-1, objective=maximize())
    sweep(train, over={"lr": rates}, trials=10, search="bayes", objective=maximize())
