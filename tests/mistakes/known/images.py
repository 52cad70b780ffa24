"""A module that the image cannot have, and an image of which nobody knows the version."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> int:
    import pandas as pd

    return len(pd.read_csv(table))


@step(image="trainer")
def train(rows: int) -> float:
    return rows / 2


@pipeline
def nightly() -> None:
    train(load("orders"))
