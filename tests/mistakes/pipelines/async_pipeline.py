"""Pipelines that are coroutines or generators."""

from collections.abc import Iterator

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@pipeline
async def nightly() -> None:
    load("orders")


@pipeline
def hourly() -> Iterator[int]:
    yield load("users")
