from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def names(schema: str) -> list[str]:
    return [schema]


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@pipeline
def nightly() -> None:
    fan_out(load, over={"table": ["orders"]})
    fan_out(load.options(name="load-all"), over={"table": names("shop")})
