"""A decorator beside the pipelines."""

import functools
from collections.abc import Callable


def logged(function: Callable[[str], int]) -> Callable[[str], int]:
    @functools.wraps(function)
    def inner(table: str) -> int:
        print("calling", function.__name__)
        return function(table)

    return inner
