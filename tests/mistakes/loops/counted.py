"""So many times as a step says."""

from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def count(table: str) -> int:
    return len(table)


@step(image="python:3.12-slim")
def train(part: int) -> float:
    return part / 2


@pipeline
def nightly() -> None:
    parts = count("orders")
    for part in range(parts):
        train(part)
    fan_out(train, over={"part": parts})
    fan_out(train.options(name="again"), over={"part": range(1, parts)})
