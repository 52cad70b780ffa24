"""The results of two loops are put into one list, and the results of one among the items of another."""

from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@step(image="python:3.12-slim")
def total(counts: list[list[int]]) -> int:
    return sum(sum(each) for each in counts)


@step(image="python:3.12-slim")
def summed(counts: list[int]) -> int:
    return sum(counts)


@pipeline
def nightly() -> None:
    first = fan_out(load, over={"table": ["orders", "users"]})
    second = fan_out(load, over={"table": ["events", "items"]})
    total([first, second])
    fan_out(summed, over={"counts": [first, [1]]})
