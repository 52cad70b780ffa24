"""Several values in one text that cannot stand there."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def check(table: str) -> bool:
    return bool(table)


@step(image="python:3.12-slim")
def report(text: str) -> None:
    print(text)


@pipeline
def nightly(table: str = "orders", limit: float = 0.5, strict: bool = True) -> None:
    valid = check(table)
    report(f"{table}: {valid}, {strict} for {limit:.2f} and {limit!r:>8}")
