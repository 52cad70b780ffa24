"""Loops over a text, a number, a dict and one result."""

from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def count(table: str) -> int:
    return len(table)


@step(image="python:3.12-slim")
def numbers(table: str) -> list[int]:
    return [len(table)]


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@pipeline
def nightly() -> None:
    fan_out(load, over={"table": "orders"})
    fan_out(load, over={"table": 5})
    fan_out(load, over={"table": {"orders": 1}})
    fan_out(load, over={"table": count("orders")})
    fan_out(load, over={"table": numbers("orders")})
