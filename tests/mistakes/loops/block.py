"""A loop written as a block, as other tools write it."""

from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@step(image="python:3.12-slim")
def show(rows: int) -> None:
    print(rows)


@pipeline
def nightly() -> None:
    with fan_out(load, over={"table": ["a", "b"]}) as rows:
        show(rows)
