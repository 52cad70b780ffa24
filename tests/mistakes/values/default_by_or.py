"""`or` for the default of a value that may be None: one mistake each, and what follows is judged by the default."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def last(table: str) -> int | None:
    return None


@step(image="python:3.12-slim")
def note(table: str) -> str | None:
    return None


@step(image="python:3.12-slim")
def load(rows: int, title: str) -> None:
    print(rows, title)


@pipeline
def main(table: str) -> None:
    rows = last(table) or 10
    load(rows + 1, f"of {note(table) or table}")
    most = last.options(name="most")(table)
    load.options(name="again")(most or "many", title=table)
