from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@pipeline
def nightly() -> None:
    tables: list[str] = []
    if tables:
        fan_out(load, over={"table": tables})
    load("orders")
