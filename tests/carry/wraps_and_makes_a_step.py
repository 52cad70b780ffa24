import functools

from flowdsl import step


def gpu_step(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return step(image="python:3.12-slim")(wrapper)


@gpu_step
def train(n: int) -> int:
    return n
