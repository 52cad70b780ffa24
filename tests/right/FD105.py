import sys

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def train(lr: float) -> float:
    return 1 - lr


@pipeline
def nightly() -> None:
    train(0.1)


if __name__ == "__main__" and len(sys.argv) < 2:
    sys.exit("usage: pipeline.py TABLE ...")
