from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def report(rows: int) -> str:
    # in bold: \x1b[1m
    return f"rows: {rows}"


@pipeline
def nightly() -> None:
    report(5)
