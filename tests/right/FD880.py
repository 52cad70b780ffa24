import json
import math
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from flowdsl import fan_out, pipeline, step


@dataclass
class Config:
    rate: float
    epochs: int = 3


class Mode(Enum):
    FAST = "fast"
    FULL = "full"


class Trained(NamedTuple):
    model: Path
    loss: float


def scaled(rate: float, factor: float) -> float:
    return rate * factor


@step(image="python:3.12-slim")
def train(config: Config, raw: dict[str, float], mode: Mode) -> Trained:
    rate = scaled(raw["rate"], 2.0)
    if mode is Mode.FULL:
        rate /= math.sqrt(2)
    for epoch in range(config.epochs):
        print(f"epoch {epoch}")
    for _ in range(config.epochs):
        rate *= 0.9
    model = Path("model.json")
    with model.open("w") as file:
        json.dump({"rate": rate}, file)
    return Trained(model, config.rate)


@step(image="python:3.12-slim")
def best(runs: list[Trained], names: list[str]) -> Path:
    names.append("last")
    first = min(runs, key=lambda one: one.loss)
    if first.loss > 0.5:
        print(f"{[one.loss for one in runs]}")
    return first.model


@step(image="python:3.12-slim")
def report(model: Path, loss: float, count: int) -> None:
    if str(model).endswith(".json"):
        print(model / "weights", "loss: " + str(loss))
    for index in range(count):
        print(index, count)
    Path("report.txt").write_text(str(loss))


@pipeline
def main() -> None:
    runs = fan_out(train, over={"config": [Config(0.1), Config(0.2)]}, raw={"rate": 0.1}, mode=Mode.FAST)
    report(best(runs, ["a"]), 0.5, 3)
