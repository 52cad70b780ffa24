"""Mistakes in several pipelines of one file."""

from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@step(image="python:3.12-slim")
def total(counts: list[int]) -> int:
    return sum(counts)


@pipeline
def hourly() -> None:
    load(tabel="orders")


@pipeline
def nightly() -> None:
    counts = fan_out(load, over={"table": ["orders", 7]})
    total(counts, "sum")


@pipeline
def weekly() -> None:
    nightly()
    for number in total([1, 2]):
        load(number)
