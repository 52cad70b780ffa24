"""Blocks that assign a variable, as if it had that value in some runs."""

from flowdsl import either, on_exit, on_failure, otherwise, pipeline, step, unless, when


@step(image="python:3.12-slim")
def largest(rows: int) -> int:
    return max(rows, 64)


@step(image="python:3.12-slim")
def train(size: int) -> None:
    print(size)


@pipeline
def nightly(rows: int = 1000) -> None:
    size = 32
    with when(rows > 4000):
        size = 64
    with when(rows > 8000):
        with unless(rows > 9000):
            big = largest(rows)
    with otherwise():
        print(size)
    trained = train(either(big, size))
    with on_exit(trained):
        size = 0
    with on_failure(trained):
        print("failed")
