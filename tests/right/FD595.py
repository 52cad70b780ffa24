from flowdsl import fan_out, pipeline, step

URL = "https://example.com/a/long/path"


@step(image="python:3.12-slim")
def load(first: int) -> int:
    return sum(len(f"{URL}/{number:08}.csv") for number in range(first, first + 1_000))


@pipeline
def nightly() -> None:
    fan_out(load, over={"first": range(0, 30_000, 1_000)})
