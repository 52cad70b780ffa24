"""Steps that return something, and come to their end without it."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def best(scores: list[float]) -> int:
    for index, score in enumerate(scores):
        if score > 0.9:
            return index


@step(image="python:3.12-slim")
def lr(epoch: int) -> float:
    if epoch < 10:
        return 0.1
    elif epoch < 20:
        return 0.01


@step(image="python:3.12-slim")
def read(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        print(f"{text} is no number")


@pipeline
def nightly() -> None:
    lr(best([0.2, 0.95]))
    read("a")
