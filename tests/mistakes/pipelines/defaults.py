"""Defaults of a pipeline that are not of the parameter's type."""

from typing import Literal

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def train(epochs: int, method: str) -> float:
    return epochs * len(method)


@pipeline
def nightly(epochs: int = 2.5, method: Literal["adam", "sgd"] = "adamw", layers: int = None) -> None:
    train(epochs + layers, method)
