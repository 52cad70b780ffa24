"""A seed that is a text."""

from flowdsl import maximize, pipeline, step, sweep


@step(image="pytorch/pytorch:2.7.1")
def train(lr: float) -> float:
    return 1 - lr


@pipeline
def search() -> None:
    rates = [0.1, 0.01]
    sweep(train, over={"lr": rates}, objective=maximize(), trials=2, seed="7")
