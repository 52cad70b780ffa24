import functools

from flowdsl import step


def logged(level):
    def decorate(function):
        return function

    return decorate


@logged(3)
@functools.lru_cache
@step(image="python:3.12-slim")
def train(n: int) -> int:
    return n
