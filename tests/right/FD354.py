from flowdsl import either, pipeline, step, when


@step(image="python:3.12-slim")
def largest(rows: int) -> int:
    return max(rows, 64)


@step(image="python:3.12-slim")
def train(size: int) -> None:
    print(size)


@pipeline
def nightly(rows: int = 1000) -> None:
    with when(rows > 4000):
        big = largest(rows)
    train(either(big, 32))
