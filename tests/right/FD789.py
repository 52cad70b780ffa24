from pathlib import Path
from typing import NamedTuple

from flowdsl import pipeline, step


class Trained(NamedTuple):
    model: Path
    acc: float


@step(image="python:3.12-slim")
def train() -> Trained:
    return Trained(model=Path("model.bin"), acc=0.5)


@pipeline
def main() -> None:
    train()
