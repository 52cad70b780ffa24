"""The failed items of a loop that ends at the first failure."""

from flowdsl import failed, fan_out, pipeline, step


@step(image="python:3.12-slim")
def work(part: int) -> float:
    return part / 2


@step(image="python:3.12-slim")
def tell(parts: list[int]) -> None:
    print(parts)


@pipeline
def nightly() -> None:
    results = fan_out(work, over={"part": range(3)})
    tell(failed(results))
