from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def collect(table: str) -> list[str]:
    return [table]


@step(image="python:3.12-slim")
def report(title: str, found: list[str]) -> str:
    return title + ", ".join(found)


@pipeline
def nightly() -> None:
    found = collect("orders")
    report("tables: ", found)
