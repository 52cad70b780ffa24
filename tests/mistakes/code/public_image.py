"""An image that is said to have the modules of the project, and has Python alone."""

from _models import train

from flowdsl import pipeline, step


@step(image="python:3.12-slim", code="image")
def measure(table: str) -> int:
    return train(len(table))


@pipeline
def nightly() -> int:
    return measure("orders")
