"""A comprehension over the list that a step returns."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def list_shards(table: str) -> list[str]:
    return [f"{table}-{number}" for number in range(8)]


@step(image="python:3.12-slim")
def load(shard: str) -> int:
    return len(shard)


@step(image="python:3.12-slim")
def total(counts: list[int]) -> int:
    return sum(counts)


@pipeline
def nightly() -> None:
    total([load(shard) for shard in list_shards("orders")])
