from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def count(table: str) -> int:
    return len(table)


@step(image="python:3.12-slim")
def report(rows: int) -> None:
    print(rows)


@pipeline
def load(table: str) -> int:
    return count(table)


@pipeline
def nightly() -> None:
    report(load("orders"))
