"""Options of decorators without their names."""

from flowdsl import pipeline, step


@step("python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@pipeline("nightly")
def main() -> None:
    load("orders")
