"""A volume, and a path on one, inside the text of an argument."""

from pathlib import Path

from flowdsl import Volume, pipeline, step

DATA = Volume("datasets")
print(f"datasets are on {DATA}")


@step(image="python:3.12-slim")
def load(name: str, table: Path | None = None) -> int:
    return len(name)


@pipeline
def nightly() -> None:
    print(f"this is no mistake: {DATA / 'orders'}")
    load("from " + str(DATA))
    load(f"{DATA / 'orders.csv'}")
    load("orders", DATA / str(DATA / "orders.csv"))
