"""Words of other tools for what the language has under another name."""

from flowdsl import Workflow, task


@task(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@task(image="python:3.12-slim")
def report(rows: int) -> None:
    print(rows)


with Workflow("nightly"):
    report(load("orders"))
