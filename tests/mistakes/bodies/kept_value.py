"""A step that reads a value of the run, which the pipeline keeps in a variable of the file."""

from flowdsl import pipeline, step

rows = 0


@step(image="python:3.12-slim")
def count(table: str) -> int:
    return len(table)


@step(image="python:3.12-slim")
def report(text: str) -> None:
    print(text, rows)


@pipeline
def nightly() -> None:
    global rows
    rows = count("orders")
    report("rows:")
