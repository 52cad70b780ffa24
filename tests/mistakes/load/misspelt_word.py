"""A word of the language that is nearly one."""

from flowdsl import pipline, step


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@pipline
def nightly() -> None:
    load("orders")
