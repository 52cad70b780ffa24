"""Names that Argo refuses."""

from typing import NamedTuple

from flowdsl import pipeline, step


class Result(NamedTuple):
    größe: int
    name: str


@step(image="python:3.12-slim")
def measure(präfix: str) -> Result:
    return Result(len(präfix), präfix)


@pipeline
def nightly() -> None:
    measure("a")
