from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> str:
    return table


@pipeline
def nightly() -> None:
    first = load("orders")
    load.options(name="second", after=[first])("customers")
