from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def split(total: int, parts: int) -> list[int]:
    return [total // parts] * parts


@pipeline
def shards() -> None:
    split(1000, parts=8)
