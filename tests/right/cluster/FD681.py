from flowdsl import pipeline, step


@step(image="python:3.12-slim", gpu=1, where="gpu.memory >= 40Gi", pool="gpu-new")
def train(rate: float) -> float:
    return 1 - rate


@pipeline
def nightly() -> None:
    train(0.1)
