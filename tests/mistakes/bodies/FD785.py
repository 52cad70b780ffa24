from flowdsl import GPU, pipeline, step


@step(image="pytorch/pytorch:2.7.1", gpu=GPU(1), memory="32Gi", retries=3)
def fit(rate: float) -> float:
    return rate / 2


@step(image="python:3.12-slim", retries=3)
def fit_twice(rate: float) -> float:
    return fit(fit(rate))


@pipeline
def main() -> float:
    return fit_twice(0.1)
