"""TypedDicts: as values and parts of others, with keys that may be missing, made in the pipeline and in loops."""

from __future__ import annotations

from datetime import date
from enum import Enum
from typing import Any, NamedTuple, NotRequired, Required, TypedDict

from flowdsl import either, fan_out, maximize, pipeline, step, sweep, when

PYTHON = "python:3.12-slim"


class Kind(Enum):
    SMALL = 1
    LARGE = "l"


class Metrics(TypedDict):
    loss: float
    steps: int
    day: date
    kind: Kind
    note: NotRequired[str]


class Loose(TypedDict, total=False):
    first: Required[int]
    others: list[Metrics]


class Row(NamedTuple):
    metrics: Metrics
    name: str


@step(image=PYTHON)
def train(rate: float, day: date = date(2020, 1, 1)) -> Metrics:
    """Some have a note."""
    made: Metrics = {"loss": rate, "steps": 3, "day": day, "kind": Kind.SMALL}
    if rate > 1:
        made["note"] = "large {x} $(y)"
    return made


@step(image=PYTHON)
def row(metrics: Metrics) -> Row:
    """One inside of a record."""
    made = Metrics(
        loss=metrics["loss"], steps=metrics.get("steps", 0) + 1, day=metrics["day"], kind=Kind.LARGE
    )
    return Row(made, metrics.get("note", "none"))


@step(image=PYTHON)
def perhaps(loss: float, kind: Kind) -> Metrics | None:
    """One, or none."""
    return None if loss < 1 else {"loss": loss, "steps": 0, "day": date(2021, 1, 1), "kind": kind}


@step(image=PYTHON)
def said(one: Metrics, loose: Loose, every: list[Metrics], rows: dict[str, Row], anything: Any) -> str:
    """All of it."""
    return str((one, loose, every, rows, anything, sorted(one.items(), key=str)))


@pipeline
def again(metrics: Metrics) -> Metrics:
    return train.options(name="inner")(metrics["loss"] * 2, metrics["day"])


@pipeline
def entries(
    given: Metrics = {"loss": 0.5, "steps": 1, "day": date(2022, 2, 2), "kind": Kind.SMALL},  # noqa: B006
) -> str:
    trained = train.options(name="trained")(2.0)
    every = fan_out(train, over={"rate": [0.1, 3.0]})
    twice = fan_out(again, over={"metrics": every})
    both = row.options(name="row")(trained)
    with when(both.metrics["steps"] > 3):
        perhaps.options(name="more")(every[0]["loss"], both.metrics["kind"])
    chosen = either(perhaps.options(name="perhaps")(given["loss"], given["kind"]), given)
    runs = sweep(train, over={"rate": [0.2, 0.7]}, objective=maximize("return.loss"))
    made: Metrics = {
        "loss": trained["loss"] + 1,
        "steps": 1,
        "day": runs.best["day"],
        "kind": Kind.LARGE,
        "note": f"after {trained['steps']}",
    }
    rows = {"a": both, "b": Row(chosen, "chosen")}
    return said.options(name="said")(made, {"first": 1, "others": [trained, given]}, twice, rows, [1, "x"])
