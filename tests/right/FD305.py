from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def shards(count: int) -> list[str]:
    return [f"shard-{number}" for number in range(count)]


@pipeline
def nightly() -> None:
    shards(8)
