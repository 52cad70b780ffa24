"""`int`, `float`, `str` and `range` on the result of a step."""

import math

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def measure(table: str) -> float:
    return len(table) / 3


@step(image="python:3.12-slim")
def count(table: str) -> int:
    return len(table)


@step(image="python:3.12-slim")
def train(size: int, share: float) -> None:
    print(size, share)


@pipeline
def nightly() -> None:
    size = measure("orders")
    train(int(size), float(count("orders")))
    train.options(name="rounded")(math.ceil(size), math.sqrt(size))
    print("%s has %d rows" % ("orders", count("orders")))
    for seed in range(count("users")):
        train.options(name="seeded")(seed, 0.5)
