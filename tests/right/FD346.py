from flowdsl import fan_out, pipeline, step


def load(table: str, limit: int) -> int:
    return len(table[:limit])


@step(image="python:3.12-slim")
def count(table: str) -> int:
    return len(table)


@step(image="python:3.12-slim")
def load_few(table: str) -> int:
    return load(table, limit=10)


@pipeline
def nightly() -> None:
    load_few("orders")
    fan_out(count, over={"table": ["a", "b"]})
