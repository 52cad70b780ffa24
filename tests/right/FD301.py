from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load(table: str, limit: int) -> str:
    return table[:limit]


@pipeline
def nightly() -> None:
    load("orders", 5)
