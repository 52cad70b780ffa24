"""What a step takes from its file: imports, constants and helpers; and a result that is returned."""

import math
from pathlib import Path

from flowdsl import pipeline, step

LIMIT = 3


def scaled(value: float) -> float:
    return math.sqrt(value) * LIMIT


@step(image="python:3.12-slim")
def score(value: float) -> float:
    return scaled(value)


@step(image="python:3.12-slim")
def write(value: float) -> Path:
    out = Path("/tmp/score.txt")
    out.write_text(str(value))
    return out


@pipeline
def nightly() -> None:
    write(score(2.0))
