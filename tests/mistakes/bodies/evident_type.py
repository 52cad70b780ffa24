"""Steps that return what is plain to see as something else than they say."""

import json
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from flowdsl import Volume, pipeline, step

DATA = Volume("data")


class Mode(Enum):
    FAST = 1


class Trained(NamedTuple):
    model: Path
    loss: float


@step(image="python:3.12-slim")
def summary(scores: dict[str, float]) -> dict[str, float]:
    return json.dumps(scores)


@step(image="python:3.12-slim")
def count(table: Path) -> int:
    text = table.read_text()
    return text


@step(image="python:3.12-slim")
def share(rows: list[str], least: float) -> int:
    if not rows:
        return least
    return float(len(rows))


@step(image="python:3.12-slim")
def place(folder: Path) -> str:
    return folder


@step(image="python:3.12-slim")
def written(text: str) -> str:
    out = Path("out.txt")
    out.write_text(text)
    return out


@step(image="python:3.12-slim")
def name(epoch: int) -> Path:
    path = f"model-{epoch}.pt"
    return path


@step(image="python:3.12-slim")
def fit(epochs: int) -> Trained:
    model = Path("model.pt")
    return Trained(model, loss=f"{1 / epochs:.3f}")


@step(image="python:3.12-slim")
def labels(rows: list[str]) -> list[str]:
    found = set(rows)
    return found


@step(image="python:3.12-slim")
def sizes(rows: list[str]) -> list[int]:
    return map(len, rows) if rows else range(3)


@step(image="python:3.12-slim")
def mode(fast: bool) -> Mode:
    return str(fast)


@step(image="python:3.12-slim")
def pairs(rows: list[str]) -> dict[str, int]:
    return [len(row) for row in rows]


@step(image="python:3.12-slim")
def prices(rows: list[str]) -> list[Decimal]:
    total = float(len(rows))
    return [total / 3, Decimal(1)]


@step(image="python:3.12-slim")
def split(rows: list[str]) -> tuple[int, int]:
    return len(rows), 2, 1


@pipeline
def nightly() -> None:
    table = DATA / "table.csv"
    summary({"a": 0.5})
    count(table)
    share(["a"], 0.5)
    place(table)
    written("a")
    name(1)
    fit(3)
    labels(["a"])
    sizes(["a"])
    mode(True)
    pairs(["a"])
    prices(["a"])
    split(["a"])
