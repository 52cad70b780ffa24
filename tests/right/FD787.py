from flowdsl import GPU, pipeline, step


@step(image="python:3.12-slim")
def train(rate: float) -> float:
    return rate * 2


@pipeline
def nightly(rate: float = 0.1) -> None:
    large = train.options(gpu=GPU(1), memory="8Gi")
    large(rate)
