"""A cached loop with more items than a ConfigMap holds."""

from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim", cache=True)
def square(number: int) -> int:
    return number * number


@pipeline
def nightly() -> None:
    fan_out(square, over={"number": range(3000)})
