"""Claims whose names Kubernetes refuses, and modes that it does not have."""

from pathlib import Path

from flowdsl import Volume, pipeline, step

DATA = Volume("My_PVC")
MODELS = Volume("models.team-a", mode="ReadOnlyMani")
SCRATCH = Volume(3, mode="RWX")


@step(image="python:3.12-slim", mounts={"/models": MODELS, "/scratch": SCRATCH / "tmp"})
def count(table: Path) -> int:
    return len(table.read_text())


@pipeline
def nightly(table: Path = Volume("Nightly") / "orders.csv") -> None:
    count(table)
    count.options(name="first")(DATA / "orders.csv")
    count.options(name="second", mounts={"/models": Volume("models", mode="ReadOnly")})(table)
