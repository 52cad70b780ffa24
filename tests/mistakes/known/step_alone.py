"""A decorator without its parentheses."""

from flowdsl import pipeline, step


@step
def load(table: str) -> None:
    print(table)


@pipeline
def nightly() -> None:
    load("orders")
