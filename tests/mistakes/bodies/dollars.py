"""A `$$` where Kubernetes would replace it, and where it cannot be spelled otherwise."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def price(amount: float) -> str:
    return f"{amount:.2f} {'$$' if amount > 1 else '$'}"


@pipeline
def nightly() -> None:
    price(5.0)
