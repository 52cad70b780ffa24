from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def count(table: str) -> int:
    return len(table)


@step(image="python:3.12-slim")
def report(text: str) -> None:
    print(text)


@pipeline
def nightly() -> None:
    rows = count("orders")
    report(f"rows: {rows}")
