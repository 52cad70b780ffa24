from flowdsl import pipeline, step

LIMITS = {"orders": 100, "users": 50}


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return LIMITS[table]


@pipeline
def nightly() -> None:
    load("orders")
