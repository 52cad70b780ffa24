"""Steps that use modules of the project: the image does not have them."""

from flowdsl import pipeline, step

from project.tables import (
    count_rows,
    split as split_rows,
)
from project import tables


@step(image="python:3.12-slim")
def count(table: str) -> int:
    return count_rows(table)


@step(image="python:3.12-slim")
def first(table: str) -> str:
    return split_rows(table)[0] * count_rows(table)


@step(image="python:3.12-slim")
def double(table: str) -> int:
    import project.tables

    return 2 * project.tables.count_rows(table) + tables.count_rows(table)


@pipeline
def nightly() -> None:
    count("orders")
    double("orders")
    first("orders")
