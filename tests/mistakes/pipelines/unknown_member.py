"""Members of an Enum, and names of other things of the file, that there are not."""

from __future__ import annotations

import math
from enum import Enum
from typing import NamedTuple

from flowdsl import pipeline, step


class Size(Enum):
    SMALL = "small"
    LARGE = "large"


class Settings(NamedTuple):
    epochs: int = 3


SETTINGS = Settings()


@step(image="python:3.12-slim")
def train(size: Size, epochs: int = 3) -> None:
    print(size, epochs)


@pipeline
def by_attribute() -> None:
    train(Size.SMAL)


@pipeline
def by_name() -> None:
    train(Size["MEDIUM"])


@pipeline
def by_value() -> None:
    train(Size("smal"))


@pipeline
def of_a_tuple() -> None:
    train(Size.SMALL, SETTINGS.epoch)


@pipeline
def of_a_class() -> None:
    train(Size.SMALL, Settings.epoch)


@pipeline
def of_a_module() -> None:
    train(Size.SMALL, math.cel(2.5))
