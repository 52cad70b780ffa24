from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def count(table: str) -> int:
    return len(table)


@step(image="python:3.12-slim")
def choose(rows: int) -> str:
    return ["users", "events"][rows % 2]


@pipeline
def nightly() -> None:
    rows = count("orders")
    table = choose(rows)
    count.options(name="chosen")(table)
