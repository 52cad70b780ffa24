from typing import Literal

from flowdsl import pipeline, step, when


@step(image="python:3.12-slim")
def check(table: str) -> Literal["good", "bad"]:
    return "good" if table else "bad"


@step(image="python:3.12-slim")
def publish(table: str) -> None:
    print(table)


@pipeline
def nightly(table: str = "orders") -> None:
    with when(check(table) == "good"):
        publish(table)
