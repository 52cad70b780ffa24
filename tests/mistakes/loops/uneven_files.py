"""Items of a loop that do not hold the same files."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import Volume, fan_out, pipeline, step

DATA = Volume("datasets")


@step(image="python:3.12-slim")
def count(tables: list[Path]) -> int:
    return len(tables)


@step(image="python:3.12-slim")
def compare(tables: dict[str, Path]) -> int:
    return len(tables)


class Labelled(NamedTuple):
    table: Path
    label: str


@step(image="python:3.12-slim")
def show(row: Labelled) -> None:
    print(row)


@pipeline
def labelled(rows: list[Labelled]) -> None:
    fan_out(show, over={"row": rows})


@pipeline
def nightly() -> None:
    old, new = DATA / "old.csv", DATA / "new.csv"
    fan_out(count, over={"tables": [[old], [old, new]]})
    fan_out(compare, over={"tables": [{"old": old}, {"new": new}]})
    few, many = [Labelled(old, "old")], [Labelled(old, "old"), Labelled(new, "new")]
    fan_out(labelled, over={"rows": [few, many]})
