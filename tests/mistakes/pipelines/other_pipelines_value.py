"""The value of one pipeline's body is used in another."""

from flowdsl import pipeline, step

kept: list[int] = []


@step(image="python:3.12-slim")
def count(table: str) -> int:
    return len(table)


@step(image="python:3.12-slim")
def report(rows: int) -> None:
    print(rows)


@pipeline
def load(table: str) -> None:
    kept.append(count(table))


@pipeline
def nightly() -> None:
    load("orders")
    report(kept[0])
