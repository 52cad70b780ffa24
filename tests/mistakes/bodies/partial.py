"""Steps made of a `partial` and of a function that is not written in Python."""

import functools

from flowdsl import pipeline, step


def load(table: str, limit: int) -> int:
    return len(table[:limit])


count = step(image="python:3.12-slim")(len)
load_few = step(functools.partial(load, limit=10))


@pipeline
def nightly() -> None:
    count("orders")
    load_few("orders")
