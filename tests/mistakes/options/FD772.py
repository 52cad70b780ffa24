"""An image without a tag."""

from flowdsl import pipeline, step


@step(image="python")
def square(number: int) -> int:
    return number * number


@pipeline
def nightly() -> None:
    square(3)
