"""A decorator without annotations below ours that hides the function, which stands above another step too."""

from functools import cache

from flowdsl import pipeline, step


def logged(function):  # type: ignore[no-untyped-def]
    def inner(*given, **named):  # type: ignore[no-untyped-def]
        print("calling", function.__name__)
        return function(*given, **named)

    return inner


@logged
@cache
def rows(table: str) -> int:
    return len(table)


@logged
@step(image="python:3.12-slim")
def save(table: str) -> None:
    print(rows(table))


@step(image="python:3.12-slim")
@logged
def load(table: str) -> int:
    return len(table)


@pipeline
def nightly() -> None:
    save("users")
    load("orders")
