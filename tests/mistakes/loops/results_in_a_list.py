"""The files of two loops are returned in one list, and the results of one are among the items of another."""

from pathlib import Path

from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> Path:
    return Path(table)


@step(image="python:3.12-slim")
def count(table: str) -> int:
    return len(table)


@step(image="python:3.12-slim")
def summed(counts: list[int]) -> int:
    return sum(counts)


@pipeline
def nightly() -> list[list[Path]]:
    first = fan_out(load, over={"table": ["orders", "users"]})
    second = fan_out(load, over={"table": ["events", "items"]})
    counts = fan_out(count, over={"table": ["orders", "users"]})
    fan_out(summed, over={"counts": [counts, [1]]})
    return [first, second]
