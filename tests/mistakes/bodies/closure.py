"""A step that reads a local variable of the function around it."""

from flowdsl import Step, pipeline, step


def make(table: str) -> Step[[int], str]:
    @step(image="python:3.12-slim")
    def load(limit: int) -> str:
        return table[:limit]

    return load


load_orders = make("orders")


@pipeline
def nightly() -> None:
    load_orders(5)


@pipeline
def weekly() -> None:
    most = 3

    @step(image="python:3.12-slim")
    def last(limit: int = most) -> int:
        return limit

    last()
