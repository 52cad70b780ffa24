from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> None:
    print(table)


@pipeline
def nightly() -> None:
    fan_out(load, over={"table": ["orders", "users"]})
