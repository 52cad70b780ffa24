from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def split(rows: int) -> tuple[int, int]:
    return rows // 2, rows - rows // 2


@step(image="python:3.12-slim")
def columns(table: str) -> dict[str, int]:
    return {"price": len(table)}


@step(image="python:3.12-slim")
def train(rows: int) -> float:
    return rows / 2


@pipeline
def nightly() -> None:
    halves = split(1000)
    train(halves[1])
    train.options(name="train-first")(columns("orders")["price"])
