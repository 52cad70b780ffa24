"""The result of a task that is nowhere."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> str:
    return table


@step(image="python:3.12-slim")
def train(table: str) -> None:
    print(table)


@pipeline
def nightly() -> None:
    cleaned = load("orders")
    train.options(after=[cleaned])(claened)
