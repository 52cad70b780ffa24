"""One value is taken for several, or for an object that holds it."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def measure(rate: float) -> float:
    return rate / 2


@pipeline
def main() -> None:
    first = measure(0.1)
    measure.options(name="value")(first.value)
    loss, accuracy = measure.options(name="two")(0.2)
