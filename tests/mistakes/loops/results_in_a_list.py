"""The results of two loops are put into one list."""

from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@step(image="python:3.12-slim")
def total(counts: list[list[int]]) -> int:
    return sum(sum(each) for each in counts)


@pipeline
def nightly() -> None:
    first = fan_out(load, over={"table": ["orders", "users"]})
    second = fan_out(load, over={"table": ["events", "items"]})
    total([first, second])
