"""A list that one step fills and another reads: each has its own, in its own pod."""

from flowdsl import pipeline, step

FOUND: list[str] = []
SEEN = {"orders": 0}


@step(image="python:3.12-slim")
def collect(table: str) -> None:
    FOUND.append(table)
    SEEN[table] = len(table)


@step(image="python:3.12-slim")
def report(title: str) -> str:
    return title + ", ".join(FOUND)


@step(image="python:3.12-slim")
def count(table: str) -> int:
    return SEEN.get(table, 0)


@pipeline
def nightly() -> None:
    collect("orders")
    report("tables: ")
    count("orders")
