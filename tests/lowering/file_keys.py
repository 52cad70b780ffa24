"""Keys of files that are no names of inputs: each file has an input of a name like it, and the dict its keys."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import S3, Volume, fan_out, pipeline, step

DATA = Volume("datasets")


class Table(NamedTuple):
    """A file and what is known of it."""

    file: Path
    rows: int


@step(image="python:3.12-slim")
def load(name: str) -> Table:
    """A table."""
    return Table(Path(name), 1)


@step(image="python:3.12-slim")
def count(tables: dict[str, Path], more: int = 0) -> int:
    """How many tables there are."""
    return len(tables) + more


@step(image="python:3.12-slim")
def rows(tables: dict[str, Table]) -> int:
    """How many rows the tables have."""
    return sum(one.rows for one in tables.values())


@pipeline
def part(tables: dict[str, Path], more: int) -> int:
    """The same in a graph of its own."""
    return count(tables, more)


@pipeline
def nightly() -> None:
    """Count."""
    orders, users = load("orders"), load("users")
    files = {"orders.csv": orders.file, "orders-csv": users.file, "new users": S3("users.csv")}
    count(files)
    rows({"orders.csv": orders, "users": users})
    fan_out(part, over={"more": [1, 2]}, tables={"a.csv": DATA / "a.csv", "b/ü": orders.file})
    count.options(name="alike")({"a-b": DATA / "a-b", "a__b": DATA / "a__b"})
