"""Several items of one wrong type, and one of a record that is wrong."""

from typing import NamedTuple

from flowdsl import fan_out, grid, pipeline, step


class Point(NamedTuple):
    rate: float
    layers: int


@step(image="python:3.12-slim")
def train(layers: int, rate: float = 0.1) -> float:
    return rate / layers


@step(image="python:3.12-slim")
def at(point: Point) -> float:
    return point.rate / point.layers


@pipeline
def nightly() -> None:
    fan_out(train, over={"layers": ["2", "4", "8"]})
    fan_out(train.options(name="second"), over=grid(layers=[2, 4], rate=[0.1, "0.01"]))
    fan_out(at, over={"point": [Point(0.1, 2), Point(0.2, "4")]})
