"""Keys of files that no input can be named by."""

from pathlib import Path

from flowdsl import S3, Volume, pipeline, step

DATA = Volume("datasets")


@step(image="python:3.12-slim")
def count(tables: dict[str, Path]) -> int:
    return len(tables)


@pipeline
def nightly() -> None:
    count({"orders": DATA / "orders.csv", "new orders": DATA / "new.csv"})
    count.options(name="stored")({"orders.csv": S3("orders.csv")})
