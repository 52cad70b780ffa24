"""Arrays of a library where numbers and lists of Python are wanted."""

from array import array

from flowdsl import fan_out, pipeline, step

RATES = array("d", [0.1, 0.01])


@step(image="python:3.12-slim")
def train(rate: float, layers: list[int]) -> float:
    return rate * len(layers)


@pipeline
def nightly() -> None:
    train(0.1, array("i", [64, 32]))
    train.options(name="whole")(RATES, [64])
    fan_out(train.options(name="rates"), over={"rate": RATES.tolist()}, layers=[RATES])
