"""Bodies that the pod cannot run: a local variable, *arguments, a lambda, a name that is nowhere."""

from collections.abc import Callable

from flowdsl import pipeline, step


def made(table: str) -> Callable[[int], int]:
    @step(image="python:3.12-slim")
    def load(limit: int) -> int:
        return len(table) + limit

    return load


load_orders = made("orders")


@step(image="python:3.12-slim")
def total(*parts: int) -> int:
    return sum(parts)


today = step(image="python:3.12-slim")(lambda: 3)


@step(image="python:3.12-slim")
def scale(lr: float) -> float:
    return lr * FACTOR


@pipeline
def nightly() -> None:
    load_orders(3)
    total()
    today()
    scale(0.1)
