"""NaN and infinities have no JSON form."""

import math

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def clip(value: float, low: float, high: float = math.inf) -> float:
    return min(max(value, low), high)


@pipeline
def bounds() -> None:
    clip(float("nan"), low=-math.inf)
