"""A generator as a step."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def shards(count: int) -> list[str]:
    for number in range(count):
        yield f"shard-{number}"


@pipeline
def nightly() -> None:
    shards(8)
