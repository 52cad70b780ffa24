"""The default stands first in `either`."""

from flowdsl import either, pipeline, step, when


@step(image="python:3.12-slim")
def score(rate: float) -> float:
    return 1 - rate


@pipeline
def nightly(often: bool = True) -> float:
    with when(often):
        accuracy = score(0.1)
    return either(0.5, accuracy)
