"""One of the values that a pipeline returns is made in a branch."""

from flowdsl import pipeline, step, when


@step(image="python:3.12-slim")
def train(table: str) -> float:
    return len(table) / 2


@pipeline
def nightly(table: str = "orders", tune: bool = False) -> tuple[float, float]:
    usual = train(table)
    with when(tune):
        tuned = train(f"tuned {table}")
    return usual, tuned
