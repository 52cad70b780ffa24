"""A decorator above the one that makes the step."""

import functools
from collections.abc import Callable

from flowdsl import pipeline, step


def logged(function: Callable[..., int]) -> Callable[..., int]:
    @functools.wraps(function)
    def inner(*args: object) -> int:
        print("calling", function.__name__)
        return function(*args)

    return inner


@logged
@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@pipeline
def nightly() -> None:
    load("orders")
