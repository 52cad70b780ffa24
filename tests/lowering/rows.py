"""Loops over files that Python put together: of steps, on volumes, from elsewhere, alone and in records."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import S3, Volume, fan_out, pipeline, step

DATA = Volume("datasets")
MORE = Volume("more")


class Labelled(NamedTuple):
    text: Path
    label: str


class Nested(NamedTuple):
    both: tuple[Path, Labelled]
    weight: float


@step(image="python:3.12-slim")
def make(size: int) -> Path:
    made = Path("made.txt")
    made.write_text("x" * size)
    return made


@step(image="python:3.12-slim")
def count(text: Path) -> int:
    return len(text.read_text())


@step(image="python:3.12-slim")
def learn(row: Labelled, rate: float = 0.1) -> float:
    return row.text.stat().st_size * rate


@step(image="python:3.12-slim")
def nested(row: Nested) -> float:
    return row.weight


@step(image="python:3.12-slim")
def end(numbers: list[int], losses: list[float]) -> None:
    print(numbers, losses)


@pipeline
def rows(month: str = "2026-11") -> None:
    first, second = make(1), make(2)
    made = fan_out(count.options(name="made"), over={"text": [first, second]})
    mounted = fan_out(count.options(name="mounted"), over={"text": [DATA / month, MORE / month]})
    stored = fan_out(learn.options(name="stored"), over={"row": [Labelled(S3("a"), "a"), Labelled(S3("b"), "b")]})
    known = fan_out(learn.options(name="known"), over={"row": [Labelled(DATA / "a", "a"), Labelled(DATA / "b", 'b"')]})
    mixed = fan_out(learn.options(name="mixed"), over={"row": [Labelled(first, month), Labelled(second, "b")]}, rate=0.5)
    deep = fan_out(
        nested, over={"row": [Nested((first, Labelled(S3("a", month), "a")), 1.0), Nested((second, Labelled(S3("b", "c"), month)), 2.0)]}
    )
    end(made, stored)
    end.options(name="last")(mounted, deep)
    end.options(name="rest")(mounted, known)
    end.options(name="others")(mounted, mixed)
