"""One file of several that travel together."""

from pathlib import Path

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def split() -> dict[str, Path]:
    return {"train": Path("train.csv"), "test": Path("test.csv")}


@step(image="python:3.12-slim")
def shards() -> list[Path]:
    return [Path("train.csv")]


@step(image="python:3.12-slim")
def count(table: Path) -> int:
    return len(table.read_text())


@pipeline
def nightly() -> None:
    parts = split()
    train = count(parts["train"])
    shard = count(shards()[0])
