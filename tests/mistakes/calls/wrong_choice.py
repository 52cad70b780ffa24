"""A text that is none of a Literal's, and one that is no member of an Enum."""

from enum import Enum
from typing import Literal

from flowdsl import pipeline, step


class Color(Enum):
    RED = "red"
    BLUE = "blue"


@step(image="python:3.12-slim")
def optimize(method: Literal["adam", "sgd"], color: Color) -> str:
    return method + color.value


@pipeline
def nightly() -> None:
    optimize("adamw", color="red")
