from __future__ import annotations

from pathlib import Path

from flowdsl import Volume, pipeline, step

ORDERS = Volume("tables") / "orders.csv"


@step(image="python:3.12-slim")
def count(table: Path) -> int:
    return len(table.read_text())


@pipeline
def nightly(table: Path = ORDERS) -> None:
    count(table)
