from flowdsl import pipeline, step, when


@step(image="python:3.12-slim")
def count(table: str) -> int:
    return len(table)


@step(image="python:3.12-slim")
def alert(text: str) -> None:
    print(text)


@pipeline
def nightly() -> None:
    rows = count("orders")
    with when(rows == 5):
        alert(f"{rows} rows")
