"""Dicts whose keys are whole numbers: as parameters, in records, as items, taken apart, and out of loops."""

from dataclasses import dataclass

from flowdsl import either, fan_out, pipeline, step, when

PYTHON = "python:3.12-slim"
KNOWN = {2: "two", 10: "ten", -1: "é"}


@dataclass
class Scores:
    """Such a dict in a record, and one in another."""

    by_class: dict[int, float]
    by_fold: dict[str, dict[int, list[str]]]


@step(image=PYTHON)
def score(names: dict[int, str], weights: dict[int, float] | None = None) -> Scores:
    """Keys in the order of their numbers, and 10 is one."""
    by_class = {key: len(names[key]) + (weights or {}).get(key, 0.5) for key in sorted(names)}
    return Scores(by_class, {"first": {key: [name] for key, name in names.items()}, "none": {}})


@step(image=PYTHON)
def shown(scores: Scores, one: float, name: str) -> dict[int, str]:
    """Whether the keys arrived as numbers."""
    keys = sorted(scores.by_class)
    return {key: f"{type(key).__name__} {scores.by_class[key]} {one} {name}" for key in keys}


@step(image=PYTHON)
def joined(rows: list[Scores], chosen: dict[int, str]) -> dict[int, dict[int, float]]:
    """The dicts of a loop, by their places."""
    return {at: row.by_class for at, row in enumerate(rows) if chosen}


@pipeline
def numbered(known: dict[int, str] = KNOWN, least: float = 1.0) -> dict[int, dict[int, float]]:
    """All of it."""
    scores = score(known, {10: 0.25})
    first = shown(scores, scores.by_class[10], known[-1])
    with when(scores.by_class[-1] > least):
        second = shown.options(name="second")(score.options(name="empty")({}), 0.5, "none")
    rows = fan_out(score.options(name="rows"), over={"weights": [{2: 0.0}, {}, None]}, names=known)
    return joined(rows, either(second, first))
