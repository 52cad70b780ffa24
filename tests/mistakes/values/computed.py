"""Items and keys that a default has not, or what a pipeline hands to another one."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def train(rate: float, seed: int) -> float:
    return rate * seed


@pipeline
def of_rates(rates: list[float], seeds: dict[str, int]) -> None:
    train(rates[1], seeds["first"])


@pipeline
def nightly(rates: list[float] = [0.1], seeds: dict[str, int] = {"first": 1}) -> None:
    train(rates[1], seeds["frist"])
    of_rates([0.5], {"first": 2})
    of_rates([0.5, 0.25], {"first": 2})
