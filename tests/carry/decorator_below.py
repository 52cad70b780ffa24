import functools
from typing import Callable

from flowdsl import step

ARGUMENTS = {"n": 2}
TIMES = 2


def repeated(times: int) -> Callable[[Callable[..., int]], Callable[..., int]]:
    def decorate(function: Callable[..., int]) -> Callable[..., int]:
        @functools.wraps(function)
        def wrapper(*args: int, **kwargs: int) -> int:
            return sum(function(*args, **kwargs) for _ in range(times))

        return wrapper

    return decorate


@step(image="python:3.12-slim")
@repeated(TIMES)
def train(n: int) -> int:
    return n
