from enum import Enum

from flowdsl import pipeline, step


class Color(Enum):
    RED = 1


@step(image="python:3.12-slim")
def paint(color: Color = Color.RED) -> str:
    return color.name


@pipeline
def nightly() -> None:
    paint()
