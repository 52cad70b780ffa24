"""The results of a loop where one result is wanted."""

from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@step(image="python:3.12-slim")
def report(rows: int) -> None:
    print(rows)


@pipeline
def nightly() -> None:
    rows = fan_out(load, over={"table": ["orders", "users"]})
    report(rows)
