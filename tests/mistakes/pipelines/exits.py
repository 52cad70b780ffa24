"""A file that ends Python when it is loaded."""

import sys

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def train(lr: float) -> float:
    return 1 - lr


@pipeline
def nightly() -> None:
    train(0.1)


if len(sys.argv) < 1_000:
    sys.exit("usage: pipeline.py TABLE ...")
