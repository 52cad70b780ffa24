"""A choice between branches, which Argo 3.6 cannot make."""

from flowdsl import either, otherwise, pipeline, step, when

IMAGE = "python:3.12-slim"


@step(image=IMAGE)
def train(rate: float) -> float:
    return 1 - rate


@step(image=IMAGE)
def judge(loss: float) -> None:
    print(loss)


@pipeline
def nightly(rate: float = 0.1) -> tuple[float, float]:
    with when(rate > 0.5):
        coarse = train(rate)
    with otherwise():
        fine = train(rate / 2)
    judge(either(coarse, fine))
    return rate, either(coarse, fine)
