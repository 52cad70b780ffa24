from flowdsl import fan_out, pipeline, step

URL = "https://example.com/a/long/path"


@step(image="python:3.12-slim")
def load(number: int) -> int:
    return len(f"{URL}/{number:08}.csv")


@pipeline
def nightly() -> None:
    fan_out(load, over={"number": range(9_000)})
