"""Pipelines that a loop puts into one another: the run would end in their middle."""

from flowdsl import Pipeline, pipeline, step


@step(image="python:3.12-slim")
def refine(rows: int) -> int:
    return rows - 1


def around(inner: Pipeline[[int], int], number: int) -> Pipeline[[int], int]:
    @pipeline(name=f"round-{number}")
    def outer(rows: int) -> int:
        return refine(inner(rows))

    return outer


@pipeline
def first(rows: int) -> int:
    return refine(rows)


last = first
for number in range(250):
    last = around(last, number)


@pipeline
def nightly(rows: int = 1000) -> int:
    return last(rows)
