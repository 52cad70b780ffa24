"""A number of the run where Python takes the number of an open file, and as an index."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def count(table: str) -> int:
    return len(table)


@pipeline
def nightly() -> None:
    rows = count("orders")
    table = ["users", "events"][rows]
    for number in range(int(rows)):
        count.options(name=f"part-{number}")(table)
    with open(rows) as log:
        count(log.read())
