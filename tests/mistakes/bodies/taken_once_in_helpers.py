"""Chance and clocks in functions that a pipeline calls while it is compiled; what steps call runs in the pods."""

import random
from datetime import datetime

from flowdsl import fan_out, pipeline, step


def draw() -> float:
    return random.uniform(0, 1)


def points() -> list[float]:
    return [draw() for _ in range(3)]


def noise() -> float:
    return random.random()


@step(image="python:3.12-slim")
def train(rate: float, tag: str) -> float:
    print(tag, datetime.now())
    return rate + noise()


def tag() -> str:
    return f"{datetime.now():%Y-%m}"


@pipeline
def nightly() -> None:
    import time
    from uuid import uuid4 as unique

    train(time.time(), str(unique()))
    fan_out(train.options(name="several"), over={"rate": points()}, tag=tag())
