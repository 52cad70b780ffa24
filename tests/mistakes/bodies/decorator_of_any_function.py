"""A decorator for any function, below ours, that hides it."""

from collections.abc import Callable
from typing import Any

from flowdsl import pipeline, step


def logged(function: Callable[..., Any]):
    def inner(*arguments, **named):
        print("calling", function.__name__)
        return function(*arguments, **named)

    return inner


@step(image="python:3.12-slim")
@logged
def load(table: str) -> int:
    return len(table)


@step(image="python:3.12-slim")
def double(rows: int) -> int:
    return 2 * rows


@pipeline
def nightly() -> int:
    rows = load("orders")
    double(rows)
    return rows
