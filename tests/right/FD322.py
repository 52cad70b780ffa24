from flowdsl import pipeline, step

RATES = {"orders": 3}


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table) + RATES["orders"]


@pipeline
def nightly() -> None:
    load("orders")
