"""The text that one step returns goes to a parameter that is an int."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def count_rows(table: str) -> str:
    return str(len(table))


@step(image="python:3.12-slim")
def split(rows: int, parts: int = 4) -> list[int]:
    return [rows // parts] * parts


@pipeline
def shards(table: str = "orders") -> None:
    rows = count_rows(table)
    split(rows)
