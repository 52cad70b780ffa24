from typing import NamedTuple

from flowdsl import pipeline, step


class Result(NamedTuple):
    groesse: int
    name: str


@step(image="python:3.12-slim")
def measure(praefix: str) -> Result:
    return Result(len(praefix), praefix)


@pipeline
def nightly() -> None:
    measure("a")
