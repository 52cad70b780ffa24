from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def clean(table: str) -> str:
    return table.strip()


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@pipeline
def nightly() -> None:
    fan_out(clean, over={"table": ["orders", "users"]})
    fan_out(load, over={"table": ["orders", "users"]})
