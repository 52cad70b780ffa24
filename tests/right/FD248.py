from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def split(rows: int) -> tuple[int, int]:
    return rows // 2, rows - rows // 2


@step(image="python:3.12-slim")
def train(rows: int) -> float:
    return rows / 2


@pipeline
def nightly() -> None:
    _, second = split(1000)
    train(second)
