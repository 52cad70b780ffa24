"""Options that only a cluster gives a meaning."""

from flowdsl import pipeline, step

IMAGE = "python:3.12-slim"


@step(image=IMAGE, gpu=1, pool="gpu-new", spot=True)
def train(rate: float) -> float:
    return 1 - rate


@step(image=IMAGE, placement="packed", spot="yes", pool="")
def judge(loss: float) -> None:
    print(loss)


@pipeline(queue="Team A")
def nightly() -> None:
    judge(train(0.1))
