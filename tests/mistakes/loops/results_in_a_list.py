"""The files of two loops are put into one list, and the results of one among the items of another."""

from pathlib import Path

from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> Path:
    return Path(table)


@step(image="python:3.12-slim")
def count(table: str) -> int:
    return len(table)


@step(image="python:3.12-slim")
def total(tables: list[list[Path]]) -> int:
    return sum(len(each) for each in tables)


@step(image="python:3.12-slim")
def summed(counts: list[int]) -> int:
    return sum(counts)


@pipeline
def nightly() -> None:
    first = fan_out(load, over={"table": ["orders", "users"]})
    second = fan_out(load, over={"table": ["events", "items"]})
    total([first, second])
    counts = fan_out(count, over={"table": ["orders", "users"]})
    fan_out(summed, over={"counts": [counts, [1]]})
