"""Files that lie beside the pipeline, read by steps whose images do not have them."""

import json
from pathlib import Path

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def train(steps: int) -> float:
    with open("rates.json") as file:
        return float(json.load(file)["rate"]) / steps


@step(image="registry.example.com/train:1.4")
def train_here(steps: int) -> float:
    return float(json.loads(Path("rates.json").read_text())["rate"]) / steps


@step(image="python:3.12-slim")
def write(rate: float) -> None:
    Path("rates.json").write_text(json.dumps({"rate": rate}))
    print(Path("rates.json").read_text())


@pipeline
def nightly() -> None:
    write(train(10))
    train_here(10)
