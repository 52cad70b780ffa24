from flowdsl import pipeline, step

FACTOR = 2


@step(image="python:3.12-slim")
def count(table: str) -> int:
    return len(table) * FACTOR


@pipeline
def nightly() -> None:
    count("orders")
