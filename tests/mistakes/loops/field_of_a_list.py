"""A field of all results of a loop at once, and a step that was not called as the list."""

from typing import NamedTuple

from flowdsl import fan_out, pipeline, step


class Trained(NamedTuple):
    model: str
    loss: float


@step(image="python:3.12-slim")
def rates(count: int) -> list[float]:
    return [1 / (n + 1) for n in range(count)]


@step(image="python:3.12-slim")
def train(rate: float) -> Trained:
    return Trained(f"model of {rate}", rate)


@step(image="python:3.12-slim")
def report(loss: float) -> None:
    print(loss)


@pipeline
def nightly() -> None:
    runs = fan_out(train, over={"rate": rates(3)})
    report(runs.loss)
    fan_out(train.options(name="again"), over={"rate": rates})
