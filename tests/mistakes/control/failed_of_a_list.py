"""The failed items of a list."""

from flowdsl import failed, pipeline, step


@step(image="python:3.12-slim")
def work(part: int) -> float:
    return part / 2


@step(image="python:3.12-slim")
def tell(parts: list[int]) -> None:
    print(parts)


@pipeline
def nightly() -> None:
    results = [1, 2, 3]
    tell(failed(results))
