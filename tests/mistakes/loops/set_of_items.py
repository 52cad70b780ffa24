"""Loops over sets, whose order differs from run to run."""

from flowdsl import fan_out, maximize, pipeline, step, sweep


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@pipeline
def nightly() -> None:
    fan_out(load, over={"table": {"orders", "users"}})
    sweep(load, over={"table": {"orders", "users"}}, objective=maximize())
