"""Records that a step cannot make: fields of another name, too few, and too many."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from flowdsl import pipeline, step


class Trained(NamedTuple):
    model: Path
    acc: float
    notes: str = ""


@dataclass
class Score:
    loss: float
    rows: list[int] = field(default_factory=list)


@step(image="python:3.12-slim")
def train(rows: int) -> Trained:
    model = Path("model.bin")
    if rows < 1:
        return Trained(model=model, accuracy=0.5)
    found = Trained(model)
    return found


@step(image="python:3.12-slim")
def score(rows: int) -> Score:
    if rows < 1:
        return Score(0.5, [1], 3)
    given = {"loss": 0.1}
    return Score(**given) if rows < 3 else Score(0.5)


@pipeline
def main(rows: int = 1) -> float:
    train(rows)
    return score(rows).loss
