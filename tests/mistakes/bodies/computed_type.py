"""Steps that return what operators, methods and Python's own functions make, which is plain to see as well."""

import math
from pathlib import Path
from typing import Any

from flowdsl import Volume, pipeline, step

DATA = Volume("data")


def cleaned(rows: list[str]) -> list[str]:
    return [row.strip() for row in rows]


@step(image="python:3.12-slim")
def mean(total: int, rows: list[str]) -> int:
    share = total / len(rows)
    if share > 0:
        return share
    return round(share, 2)


@step(image="python:3.12-slim")
def ordered(rows: list[str], counts: dict[str, int]) -> list[str]:
    if not counts:
        return rows.sort()
    return counts.keys()


@step(image="python:3.12-slim")
def words(text: str) -> str:
    return text.lower().split()


@step(image="python:3.12-slim")
def files(folder: Path) -> list[Path]:
    return folder.glob("*.csv")


@step(image="python:3.12-slim")
def report(name: str) -> Path:
    target = Path("reports") / name
    return target.write_text("done")


@step(image="python:3.12-slim")
def better(loss: float, best: float | None) -> str:
    return best is None or loss < best


@step(image="python:3.12-slim")
def none_called(rows: list[str]) -> Any:
    if len(rows) == 1:
        return math
    if len(rows) == 2:
        return dict
    return cleaned


@pipeline
def nightly() -> None:
    ordered(["b", "a"], {"a": mean(3, ["a", "b"])})
    words("A b")
    files(DATA / "tables")
    report("a.txt")
    better(0.5, None)
    none_called(["a"])
