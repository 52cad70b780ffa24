"""A cached step whose image is named without a tag."""

from flowdsl import pipeline, step


@step(image="python", cache=True)
def square(number: int) -> int:
    return number * number


@pipeline
def nightly() -> None:
    square(3)
