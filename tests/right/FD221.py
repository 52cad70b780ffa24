from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def clip(value: float | None, low: float, high: float | None = None) -> float:
    value = low if value is None else max(value, low)
    return value if high is None else min(value, high)


@pipeline
def bounds() -> None:
    clip(None, low=-1e6)
