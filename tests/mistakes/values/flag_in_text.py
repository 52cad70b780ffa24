"""Values in text that Python and Argo write differently."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def check(table: str) -> bool:
    return bool(table)


@step(image="python:3.12-slim")
def columns(table: str) -> list[str]:
    return table.split(",")


@step(image="python:3.12-slim")
def report(text: str) -> None:
    print(text)


@pipeline
def nightly() -> None:
    report(f"valid: {check('orders')}")
    report.options(name="columns")(f"columns: {columns('orders')}")
