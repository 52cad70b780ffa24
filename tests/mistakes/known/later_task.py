"""A task that uses the result of a later one."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> str:
    return table


@step(image="python:3.12-slim")
def train(table: str) -> None:
    print(table)


@pipeline
def nightly() -> None:
    train(cleaned)
    cleaned = load("orders")
