"""Steps made of a script that was started by hand."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def train(rows: int, rate: float) -> float:
    return rate * rows


@step(image="python:3.12-slim")
def publish(score: float, name: str) -> None:
    print(name, score)


@pipeline
def nightly(rate: float = 0.1, name: str = "best") -> None:
    score = train(10, rate)
    publish(score, name)
