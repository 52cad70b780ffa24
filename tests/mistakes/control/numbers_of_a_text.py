"""The numbers up to a text."""

from flowdsl import numbers, pipeline, step


@step(image="python:3.12-slim")
def tell(parts: list[int]) -> None:
    print(parts)


@pipeline
def nightly(rows: str = "3") -> None:
    tell(numbers(rows))
