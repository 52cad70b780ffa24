from flowdsl import pipeline, step


def load(table: str, limit: int) -> int:
    return len(table[:limit])


@step(image="python:3.12-slim")
def count(table: str) -> int:
    return len(table)


@step(image="python:3.12-slim")
def load_few(table: str) -> int:
    return load(table, limit=10)


@pipeline
def nightly() -> None:
    count("orders")
    load_few("orders")
