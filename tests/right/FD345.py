from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def count(table: str) -> int:
    return len(table)


@pipeline
def nightly() -> None:
    count("orders")
