"""Arguments of a loop that are misspelt, missing or given twice."""

from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def load(table: str, limit: int, folder: str = "/tmp") -> int:
    return len(table[:limit] + folder)


@pipeline
def nightly() -> None:
    fan_out(load, over={"table": ["orders", "users"]}, limt=5)
    fan_out(load, over={"table": ["orders", "users"]}, table="events", limit=5)
    fan_out(load, over={"table": ["orders", "users"]}, folder="/data")
