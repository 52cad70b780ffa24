"""One file of several that travel together: of a parameter, of the files of each item of a list; and wrong keys."""

from pathlib import Path
from typing import Literal

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def split() -> dict[str, Path]:
    return {"train": Path("train.csv"), "test": Path("test.csv")}


@step(image="python:3.12-slim")
def shards() -> list[Path]:
    return [Path("train.csv")]


@step(image="python:3.12-slim")
def pages() -> list[list[Path]]:
    return [[Path("train.csv")]]


@step(image="python:3.12-slim")
def halves() -> dict[Literal["low", "high"], Path]:
    return {"low": Path("low.csv"), "high": Path("high.csv")}


@step(image="python:3.12-slim")
def count(table: Path) -> int:
    return len(table.read_text())


@pipeline
def each(parts: dict[str, Path], several: list[Path]) -> None:
    train = count(parts["train"])
    shard = count(several[0])


@pipeline
def nightly() -> None:
    each(split(), shards())
    page = count(pages()[0][0])
    half = count(halves()["hihg"])
    named = count(shards()["train"])
