from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> None:
    print(table)


@pipeline
def nightly() -> None:
    load.options(name="load")("orders")
    load.options(name="load-users")("users")
    load.options(name="load-events")("events")
    load.options(name="load-items")("items")
