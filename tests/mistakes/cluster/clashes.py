"""Two demands that no node meets together."""

from flowdsl import pipeline, step

IMAGE = "python:3.12-slim"


@step(image=IMAGE, gpu=1, pool="gpu-new", node={"disk": "ssd"})
def train(rate: float) -> float:
    return 1 - rate


@step(image=IMAGE, gpu=1, pool="gpu-old", where="pool in (gpu-new, cpu) and arch == amd64")
def judge(loss: float) -> None:
    print(loss)


@step(image=IMAGE, where="gpu.memory >= 96Gi and arch == amd64 or gpu.memory < 8Gi")
def store(loss: float) -> None:
    print(loss)


@pipeline
def nightly() -> None:
    loss = train(0.1)
    judge(loss)
    store(loss)
