from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load(table: str, loaded: int = 0) -> int:
    return loaded + len(table)


@pipeline
def nightly() -> None:
    first = load("orders")
    load.options(name="second")("users", first)
