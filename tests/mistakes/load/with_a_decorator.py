"""A pipeline written as a block, as other tools write workflows."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@step(image="python:3.12-slim")
def report(rows: int) -> None:
    print(rows)


with pipeline(name="nightly"):
    report(load("orders"))
