"""A word of the language that is nearly one, by its full name."""

import flowdsl


@flowdsl.step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@flowdsl.pipeline
def nightly() -> None:
    flowdsl.fanout(load, over={"table": ["orders", "users"]})
