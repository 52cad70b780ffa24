from pathlib import Path
from typing import NamedTuple

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def evaluate(model: str) -> float:
    return len(model) / 10


@step(image="python:3.12-slim")
def least(wanted: int | None, known: float) -> float:
    if wanted is not None:
        return wanted
    return known


@step(image="python:3.12-slim")
def folder(name: str) -> Path:
    place: str | Path = name
    place = Path(place)
    place.mkdir()
    return place


@step(image="python:3.12-slim")
def spelled(rows: list[str], known: bool) -> tuple[int, list[str]]:
    def len(rows: list[str]) -> tuple[int, list[str]]:  # noqa: A001 -- not Python's
        return int(known), rows

    return len(rows)


class Counted(NamedTuple):
    rows: int
    name: str
    more: dict[str, int]


@step(image="python:3.12-slim")
def counted(known: dict[str, int], first: tuple[int, str], name: str) -> Counted:
    return Counted(*first, {**known, name: 2})


@pipeline
def trial(model: str = "resnet") -> tuple[float, str]:
    return evaluate(model), model


@pipeline
def forgotten(model: str = "resnet") -> float:
    least(None, 0.5)
    folder(model)
    spelled([model], True)
    counted({"a": 1}, (1, "a"), model)
    return evaluate(model)
