"""A loop over a plain function, over a step that is called too early, and over a `partial`."""

import functools

from flowdsl import fan_out, pipeline, step


def clean(table: str) -> str:
    return table.strip()


@step(image="python:3.12-slim")
def load(table: str, limit: int = 5) -> int:
    return len(table[:limit])


@pipeline
def nightly() -> None:
    fan_out(clean, over={"table": ["orders", "users"]})
    fan_out(load("orders"), over={"table": ["orders", "users"]})
    fan_out(functools.partial(load, limit=3), over={"table": ["orders", "users"]})
