"""One decorator that wraps the function and makes it a step."""

import functools
from collections.abc import Callable

from flowdsl import Step, pipeline, step


def logged_step(function: Callable[[str], int]) -> Step[[str], int]:
    @functools.wraps(function)
    def inner(table: str) -> int:
        print("calling", function.__name__)
        return function(table)

    return step(image="python:3.12-slim")(inner)


@logged_step
def load(table: str) -> int:
    return len(table)


@pipeline
def nightly() -> None:
    load("orders")
