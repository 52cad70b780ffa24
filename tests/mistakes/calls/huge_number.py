"""Whole numbers that neither a text nor a float can hold."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def sample(seed: int) -> int:
    return seed % 7


@step(image="python:3.12-slim")
def scale(factor: float) -> float:
    return factor * 2


@pipeline
def nightly() -> None:
    sample(2**64)
    sample(10**5000)
    scale(10**400)
