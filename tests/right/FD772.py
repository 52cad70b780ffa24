from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def square(number: int) -> int:
    return number * number


@pipeline
def nightly() -> None:
    square(3)
