from flowdsl import GPU, pipeline, step


@step(image="python:3.12-slim", gpu=GPU(1, product="A100-40GB"), pool="gpu-new")
def train(rate: float) -> float:
    return 1 - rate


@pipeline
def nightly() -> None:
    train(0.1)
