"""More tasks in one graph than Argo takes in one template, and no place to part them."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def start(number: int) -> int:
    return number


@step(image="python:3.12-slim")
def merge(first: int, second: int) -> int:
    return first + second


@pipeline
def ladder() -> None:
    left = start(1)
    right = start(2)
    for _ in range(150):
        left = merge(left, right)
        right = start(right)
