import functools
from collections.abc import Callable

from flowdsl import pipeline, step


def logged(function: Callable[[str], int]) -> Callable[[str], int]:
    @functools.wraps(function)
    def inner(table: str) -> int:
        print("calling", function.__name__)
        return function(table)

    return inner


@step(image="python:3.12-slim")
@logged
def load(table: str) -> int:
    return len(table)


@pipeline
def nightly() -> None:
    load("orders")
