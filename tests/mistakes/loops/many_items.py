"""A loop whose items leave little room for the status of the run."""

from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def load(url: str) -> int:
    return len(url)


@pipeline
def nightly() -> None:
    fan_out(load, over={"url": [f"https://example.com/a/long/path/{number:08}.csv" for number in range(9_000)]})
