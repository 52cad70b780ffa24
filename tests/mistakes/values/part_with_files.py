"""Parts of records with files that are parts of a result themselves."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import fan_out, pipeline, step


class Trained(NamedTuple):
    model: Path
    loss: float


class Pair(NamedTuple):
    left: Trained
    right: Trained


@step(image="python:3.12-slim")
def train(table: str) -> Pair:
    model = Path("model.bin")
    model.write_text(table)
    return Pair(Trained(model, 0.1), Trained(model, 0.2))


@step(image="python:3.12-slim")
def publish(model: Path) -> None:
    print(model)


@step(image="python:3.12-slim")
def show(loss: float) -> None:
    print(loss)


@pipeline
def part(table: str) -> tuple[Trained, int]:
    return train(table).left, 1


@pipeline
def nightly(table: str = "orders") -> None:
    pair = train(table)
    publish(pair.left.model)
    show(pair.right[1])
    model, _ = pair.left
    publish(model)
    trained, _ = part(table)
    show(trained.loss)
    parts = fan_out(part, over={"table": ["orders", "users"]})
    show(parts[0][0].loss)
