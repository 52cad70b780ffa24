"""A list of numbers goes where one number is wanted: a loop was forgotten."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def seeds(count: int) -> list[int]:
    return list(range(count))


@step(image="python:3.12-slim")
def simulate(seed: int) -> float:
    return seed / 7


@pipeline
def monte_carlo() -> None:
    simulate(seeds(20))
