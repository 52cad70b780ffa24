"""A cached step that reads a value of a ConfigMap, of which its key has the name only."""

import os

from flowdsl import Cache, Config, Secret, pipeline, step


@step(image="python:3.12-slim", cache=True, env={"RATE": Config("training", "rate")}, secrets={"KEY": Secret("a", "b")})
def train(rows: int) -> float:
    return rows * float(os.environ["RATE"])


@step(image="python:3.12-slim", cache=Cache(salt="2024-06"), env={"RATE": Config("training", "rate")})
def salted(rows: int) -> float:
    return rows * float(os.environ["RATE"])


@pipeline
def main(rows: int = 1) -> float:
    return train(rows) + salted(rows)
