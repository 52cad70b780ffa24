"""What TypedDicts do not have, and what cannot be in them."""

from pathlib import Path
from typing import NotRequired, TypedDict

from flowdsl import maximize, pipeline, step, sweep


class Metrics(TypedDict):
    loss: float
    note: NotRequired[str]


class Files(TypedDict):
    model: Path


@step(image="python:3.12-slim")
def train(rate: float) -> Metrics:
    return {"loss": rate}


@step(image="python:3.12-slim")
def keep(metrics: Metrics) -> Files:
    print(metrics.loss)
    return {"model": Path("model")}


@step(image="python:3.12-slim")
def report(metrics: Metrics, note: str = "") -> None:
    print(metrics["loss"], note)


@pipeline
def nightly() -> None:
    metrics = train(0.1)
    report.options(name="lacking")({"note": "none"})
    report.options(name="other")({"loss": 1.0, "notes": "none"})
    report.options(name="attribute")(metrics, metrics.note)
    report.options(name="missing")(metrics, metrics["note"])
    report.options(name="unknown")(metrics, metrics["nte"])
    sweep(train, over={"rate": [0.1, 0.2]}, objective=maximize("loss"))
    keep(metrics)
