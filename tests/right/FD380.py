from flowdsl import pipeline, step, when


@step(image="python:3.12-slim")
def count(table: str) -> int:
    return len(table)


@step(image="python:3.12-slim")
def publish(rows: int) -> None:
    print(rows)


@pipeline
def nightly() -> None:
    rows = count("orders")
    with when(rows > 3):
        publish(rows + 1)
