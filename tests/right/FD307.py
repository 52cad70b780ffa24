from flowdsl import pipeline, step

limit_high = len("high")


@step(image="python:3.12-slim")
def clip(value: float) -> float:
    return min(value, limit_high)


@pipeline
def nightly() -> None:
    clip(0.5)
