"""A list that is filled after it was given: the order of the tasks stays as it was."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> str:
    return table


@pipeline
def nightly() -> None:
    before: list[object] = []
    first = load.options(name="first", after=before)("orders")
    second = load.options(name="second", after=[first])("users")
    before.append(second)
    before.append(first)
