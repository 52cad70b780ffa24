"""Options of decorators and calls without their names."""

from flowdsl import pipeline, step


@step("python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@pipeline("nightly")
def main() -> None:
    load("orders")
    load.options("again")("orders")
    load.options({"memory": "1Gi"})("sales")
