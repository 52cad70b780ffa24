"""A list without the name of the parameter that it is for."""

from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def tables(database: str) -> list[str]:
    return database.split(",")


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@pipeline
def nightly() -> None:
    fan_out(load, over=["orders", "users"])
    fan_out(load, over=tables("orders,users"))
