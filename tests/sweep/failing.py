from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load(rate: float) -> float:
    if rate > 0.15:
        raise ValueError(f"rate {rate} is too large")
    return rate


@pipeline
def trial(rate: float = 0.1) -> float:
    return load(rate)
