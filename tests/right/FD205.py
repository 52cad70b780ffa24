from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def select(columns: list[str]) -> int:
    return len(columns)


@pipeline
def report() -> None:
    select(["price", "date"])
