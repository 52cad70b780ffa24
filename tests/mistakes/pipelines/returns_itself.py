"""A pipeline that does nothing but call itself."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def halve(size: int) -> int:
    return size // 2


@pipeline
def shrink(size: int = 64) -> int:
    return shrink(halve(size))
