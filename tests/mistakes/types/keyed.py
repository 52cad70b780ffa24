"""Dicts whose keys are members of an Enum or texts of a Literal, and keys that are others."""

from enum import Enum
from typing import Literal

from flowdsl import pipeline, step

Split = Literal["train", "test"]


class Task(Enum):
    SUM = "sum"
    ASK = "ask"


class Other(Enum):
    SUM = "sum"


@step(image="python:3.12-slim")
def score(least: dict[Task, float]) -> dict[Task, float]:
    return {"SUM": 0.5}


@step(image="python:3.12-slim")
def rows(shares: dict[Split, float]) -> dict[Split, int]:
    return {"train": 8, "tset": 2}


@step(image="python:3.12-slim")
def show(value: float) -> None:
    print(value)


@pipeline
def nightly(wrong: dict[float, int] = {}) -> None:
    scores = score({Task.SUM: 0.5, Other.SUM: 0.5})
    score.options(name="by-text")({"SUM": 0.5})
    parts = rows({"train": 0.8, "val": 0.2})
    show(scores[Task.SUM] + parts["train"])
    show.options(name="text")(scores["SUM"])
    show.options(name="other")(scores[Other.SUM])
    show.options(name="split")(parts["val"])
