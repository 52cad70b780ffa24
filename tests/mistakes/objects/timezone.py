"""A time zone without its continent."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@pipeline(schedule="@daily", timezone="Berlin")
def nightly(table: str = "orders") -> None:
    load(table)
