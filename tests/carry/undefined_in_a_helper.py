from flowdsl import step


def outer(value: int) -> int:
    return inner(value)


def inner(value: int) -> int:
    return [nowhere for _ in range(value)]


@step(image="python:3.12-slim")
def train(n: int) -> int:
    return outer(n)
