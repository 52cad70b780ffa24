from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@step(image="python:3.12-slim")
def total(first: list[int], second: list[int]) -> int:
    return sum(first) + sum(second)


@pipeline
def nightly() -> None:
    first = fan_out(load, over={"table": ["orders", "users"]})
    second = fan_out(load, over={"table": ["events", "items"]})
    total(first, second)
