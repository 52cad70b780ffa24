"""An exit that depends on what only the run knows."""

import sys

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def count(table: str) -> int:
    return len(table)


@step(image="python:3.12-slim")
def publish(rows: int) -> None:
    print(rows)


@pipeline
def nightly() -> None:
    rows = count("orders")
    if rows == 0:
        sys.exit("nothing to publish")
    publish(row=rows)
