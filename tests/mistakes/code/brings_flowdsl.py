"""A step imports from a library whose package imports flowdsl, which the pod of the step does not have."""

from _library import count
from _library.tables import size

from flowdsl import Git, pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return size(table)


@step(image="python:3.12-slim")
def late(table: str) -> int:
    from _tables.rows import rows

    return rows(table)


@pipeline(code=Git("https://example.com/m.git", revision="v1"))
def nightly() -> None:
    load("orders")
    count("orders")
    late("orders")
