"""A list that one step fills and another reads."""

from flowdsl import pipeline, step

FOUND: list[str] = []


@step(image="python:3.12-slim")
def collect(table: str) -> None:
    FOUND.append(table)


@step(image="python:3.12-slim")
def report(title: str) -> str:
    return title + ", ".join(FOUND)


@pipeline
def nightly() -> None:
    collect("orders")
    report("tables: ")
