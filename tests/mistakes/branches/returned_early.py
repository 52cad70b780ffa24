"""What a block under a condition makes is returned in it, which is one mistake."""

from flowdsl import pipeline, step, when


@step(image="python:3.12-slim")
def train(table: str) -> float:
    return len(table) / 2


@pipeline
def nightly(table: str = "orders", tune: bool = False) -> float:
    with when(tune):
        tuned = train(f"tuned {table}")
        return tuned
