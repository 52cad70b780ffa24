"""A loop over a parameter that the step does not have."""

from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def load(table: str, limit: int = 100, strict: bool = True) -> int:
    return len(table[:limit])


@pipeline
def nightly() -> None:
    fan_out(load, over={"tabel": ["orders", "users"]}, limit=5)
    fan_out(load, over={"name": ["orders", "users"]}, limit=5)
