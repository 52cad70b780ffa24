from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def load(table: str, limit: int = 100) -> int:
    return len(table[:limit])


@pipeline
def nightly() -> None:
    fan_out(load, over={"table": ["orders", "users"]}, limit=5)
