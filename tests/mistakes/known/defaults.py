"""Defaults that no run can begin with, and a value that JSON does not have."""

import math

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def clip(value: float, high: float = math.nan) -> None:
    print(value, high)


@step(image="python:3.12-slim")
def keep(value: object = object()) -> None:
    print(value)


@pipeline
def nightly(rate: float = object(), limit: float = math.inf) -> None:
    clip(rate)
    clip.options(name="clip-limit")(limit, float("nan"))
    keep()
