from pathlib import Path

from flowdsl import Volume, pipeline, step

DATA = Volume("tables")


@step(image="python:3.12-slim")
def count(table: Path) -> int:
    return len(table.read_text())


@step(image="python:3.12-slim")
def total(tables: list[Path]) -> int:
    return len(tables)


@pipeline
def nightly(table: Path = DATA / "orders.csv") -> None:
    count(table)
    total([table])
