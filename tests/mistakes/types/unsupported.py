"""Annotations whose values do not travel between steps."""

from collections.abc import Callable
from fractions import Fraction

from flowdsl import pipeline, step


class Model:
    """The weights, in memory."""


@step(image="python:3.12-slim")
def train(columns: set[str], scorer: Callable[[str], float], share: Fraction) -> Model:
    print(columns, scorer, share)
    return Model()


@step(image="python:3.12-slim")
def report(by_year: dict[float, int], limit: int | str, rows: tuple[bytes, ...]) -> None:
    print(by_year, limit, rows)


@step(image="python:3.12-slim")
def split(names: [str]) -> (str, float):
    return names[0], 0.5


@pipeline
def nightly() -> None:
    report({0.5: 2024}, 3, (b"1", b"2"))
