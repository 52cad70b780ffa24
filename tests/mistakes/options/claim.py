"""The name of a claim that Kubernetes refuses."""

from pathlib import Path

from flowdsl import Volume, pipeline, step

DATA = Volume("My_PVC")


@step(image="python:3.12-slim")
def count(table: Path) -> int:
    return len(table.read_text())


@pipeline
def nightly() -> None:
    count(DATA / "orders.csv")
