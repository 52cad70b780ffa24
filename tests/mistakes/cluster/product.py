"""A product that the cluster does not have."""

from flowdsl import GPU, pipeline, step


@step(image="python:3.12-slim", gpu=GPU(1, product="A100-80GB"))
def train(rate: float) -> float:
    return 1 - rate


@step(image="python:3.12-slim", gpu=1, where="gpu.product in (A100-40GB, A100) or gpu.product == Tesla-T4")
def judge(loss: float) -> float:
    return loss


@pipeline
def nightly() -> None:
    judge(train(0.1))
