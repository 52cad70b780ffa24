"""Operators that Argo would compute in another way than Python."""

from flowdsl import pipeline, step, when


@step(image="python:3.12-slim")
def count(table: str) -> int:
    return len(table)


@step(image="python:3.12-slim")
def load(first: int, last: int) -> None:
    print(first, last)


@pipeline
def halves() -> None:
    rows = count("orders")
    load(0, rows // 2)
    load.options(name="rest")(rows % 2, round(rows / 2))
    load.options(name="power")(abs(rows), rows**2)


@pipeline
def none(empty: bool = False) -> None:
    with when(~empty):
        load(0, count("users"))
