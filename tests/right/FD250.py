from flowdsl import fan_out, maximize, pipeline, step, sweep


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@pipeline
def nightly() -> None:
    fan_out(load, over={"table": ["orders", "users"]})
    sweep(load.options(name="search"), over={"table": ["orders", "users"]}, objective=maximize())
