from flowdsl import pipeline, step


@step(image="python:3.12-slim", cpu=64, pool="gpu-new")
def train(rate: float) -> float:
    return 1 - rate


@pipeline
def nightly() -> None:
    train(0.1)
