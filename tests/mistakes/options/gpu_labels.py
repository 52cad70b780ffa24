"""Products of a vendor whose labels nobody knows."""

from flowdsl import GPU, pipeline, step


@step(image="rocm/pytorch:6.4", gpu=GPU(1, vendor="amd", product="MI300X", memory="64Gi"))
def train(rate: float) -> float:
    return 1 - rate


@step(image="python:3.12-slim", gpu=GPU(4, resource="google.com/tpu", product="v5e"))
def infer(loss: float) -> None:
    print(loss)


@pipeline
def nightly() -> None:
    infer(train(0.1))
