from flowdsl import step

ARGUMENTS = {"n": 5}
LIMIT = 10


def even(n: int) -> bool:
    return n == 0 or odd(n - 1)


def unused() -> None:
    raise NotImplementedError


def odd(n: int) -> bool:
    return n != 0 and even(n - 1)


@step(image="python:3.12-slim")
def train(n: int) -> bool:
    def inner(value: int) -> int:
        return clipped(value)

    return even(inner(n))


def clipped(n: int) -> int:
    return min(n, LIMIT)
