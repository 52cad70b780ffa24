"""Paths that lead out of their volume."""

from pathlib import Path

from flowdsl import Volume, fan_out, pipeline, run, step

DATA = Volume("datasets")


@step(image="python:3.12-slim")
def count(table: Path) -> int:
    return len(table.read_text())


@pipeline
def nightly(table: Path = DATA / "../orders.csv") -> None:
    count(table)
    count.options(name="other")(DATA / "../other/orders.csv")
    count.options(name="of-run")(DATA / f"{run.name}/../../orders.csv")
    fan_out(count.options(name="each"), over={"table": [DATA / "a/../../b.csv", DATA / "a/../c.csv"]})
