"""Steps that do with a value what no value of its type can do."""

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
    rate = scaled(raw.rate)
    if mode is Mode.SLOW:
        rate /= math.sqroot(2)
    for epoch in config.epoch:
        print("epoch " + epoch)
    for _ in config.epochs:
        rate *= 0.9
    model = Path("model.json")
    json.dump({"rate": rate}, model)
    return Trained(model, config["rate"])


@step(image="python:3.12-slim")
def best(runs: list[Trained], names: list[str]) -> Path:
    names.push("last")
    first = min(runs, key=lambda one: one.los)
    if first.loss > "0.5":
        print(f"{[one.metric for one in runs]}")
    return first.model


@step(image="python:3.12-slim")
def report(model: Path, loss: float, count: int) -> None:
    if model.endswith(".json"):
        print(model + "/weights", "loss: " + loss)
    for index in range(loss):
        print(index, count[0], len(count))
    Path("report.txt").write_text(loss)
    Path("report.txt").write_text()
    model.unlink
    scaled
    print(Config(epochs=count), loss > None, len())


@step(image="python:3.12-slim")
def write(mode: Mode, text: str) -> Path:
    quick = Mode.QUICK
    print(mode.nme, quick)
    print(Config.rte)
    for part in Path("parts"):
        print(part, b"".encode())
    text.iterdir()
    Path("a").write_bytes("text")
    Path("b").write_text(b"bytes")
    Path("c").write_text({"a": 1})
    return Path("a")


@pipeline
def main() -> None:
    runs = fan_out(train, over={"config": [Config(0.1), Config(0.2)]}, raw={"rate": 0.1}, mode=Mode.FAST)
    report(best(runs, ["a"]), 0.5, 3)
    write(Mode.FAST, "a")
