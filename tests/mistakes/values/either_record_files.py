"""`either` of records of which a file may be None."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import either, pipeline, step, when


class Trained(NamedTuple):
    loss: float
    notes: Path | None


@step(image="python:3.12-slim")
def train(loss: float) -> Trained:
    return Trained(loss, None)


@step(image="python:3.12-slim")
def show(trained: Trained) -> None: ...


@pipeline
def main(n: int = 5) -> None:
    old = train(0.9)
    with when(n > 1):
        new = train(0.1)
    show(either(new, old))
