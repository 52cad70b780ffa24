from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def start(number: int) -> int:
    return number


@step(image="python:3.12-slim")
def merge(first: int, second: int) -> int:
    return first + second


@pipeline
def ladder(left: int = 1, right: int = 2) -> tuple[int, int]:
    for _ in range(75):
        left, right = merge(left, right), start(right)
    return left, right


@pipeline
def both() -> None:
    left, right = ladder()
    ladder.options(name="second")(left, right)
