"""A pipeline whose body ends Python."""

import sys

from flowdsl import pipeline, step

TABLES: list[str] = []


@step(image="python:3.12-slim")
def count(table: str) -> int:
    return len(table)


@pipeline
def nightly() -> None:
    if not TABLES:
        sys.exit("no tables")
    for table in TABLES:
        count(table)
