"""A step in a file of its own."""

from flowdsl import step


@step(image="python:3.12-slim")
def clean(n: int) -> int:
    return n
