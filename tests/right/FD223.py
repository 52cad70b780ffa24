from typing import NamedTuple

from flowdsl import either, pipeline, step


class Best(NamedTuple):
    name: str
    score: float


@step(image="python:3.12-slim")
def search(text: str) -> Best | None:
    return Best(text, 1.0) if text else None


@step(image="python:3.12-slim")
def show(name: str, score: float) -> None:
    print(name, score)


@pipeline
def find(text: str = "cat") -> None:
    found = either(search(text), Best("none", 0.0))
    show(found.name, found[1])
