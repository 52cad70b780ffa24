"""A step that returns files of a temporary folder."""

import tempfile
from pathlib import Path
from typing import NamedTuple

from flowdsl import pipeline, step


class Trained(NamedTuple):
    model: Path
    loss: float


@step(image="python:3.12-slim")
def train(rate: float) -> Trained:
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.bin"
        model.write_text(str(rate))
        return Trained(model, loss=rate)


@step(image="python:3.12-slim")
def report(model: Path) -> Path:
    with tempfile.NamedTemporaryFile("w") as out:
        out.write(model.read_text())
    return Path(out.name)


@pipeline
def main() -> None:
    report(train(0.1).model)
