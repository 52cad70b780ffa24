"""The result of a step that returns nothing, or does not say what, is handed on."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def clean(table: str) -> None:
    print(table)


@step(image="python:3.12-slim")
def count(table: str) -> int:
    return len(table)


@step(image="python:3.12-slim")
def load(table: str):
    return table.upper()


@pipeline
def nightly() -> None:
    cleaned = clean("orders")
    count(cleaned)
    loaded = load("users")
    count.options(name="users")(loaded)
