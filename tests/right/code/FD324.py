from tables import size

from flowdsl import Git, pipeline, step


@step(image="python:3.12-slim")
def count(table: str) -> int:
    return len(table)


@step(image="python:3.12-slim")
def load(table: str) -> None:
    print(size(table))


@pipeline(code=Git("https://example.com/m.git", revision="v1"))
def nightly() -> None:
    load("orders")
    count("orders")
