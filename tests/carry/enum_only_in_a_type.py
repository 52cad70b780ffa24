from enum import Enum

from flowdsl import step


class Optimizer(Enum):
    """Not used in the body, but by the reader of the input."""

    ADAM = "adam"
    SGD = "sgd"


@step(image="python:3.12-slim")
def train(optimizer: Optimizer) -> str:
    return "x"
