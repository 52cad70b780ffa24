from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def migrate(database: str) -> str:
    return database


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@pipeline
def nightly() -> None:
    first = migrate("shop")
    load.options(after=[first])("orders")
