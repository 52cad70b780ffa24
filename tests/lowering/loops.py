"""Loops over lists known now and made by steps, over products, and over the results of loops."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import Volume, fan_out, grid, pipeline, step

DATA = Volume("datasets")


class Counted(NamedTuple):
    name: str
    words: int
    index: Path


@step(image="python:3.12-slim")
def names(count: int) -> list[str]:
    return [f"part {number}" for number in range(count)]


@step(image="python:3.12-slim")
def count(name: str, source: Path, factor: int = 1) -> Counted:
    index = Path("index")
    index.write_text(f"{name} {source.read_text()}")
    return Counted(name, len(name) * factor, index)


@step(image="python:3.12-slim")
def again(words: int) -> int:
    return words * 10


@step(image="python:3.12-slim")
def double(size: int, speed: float) -> float:
    return size * speed


@step(image="python:3.12-slim")
def check(one: Counted) -> Path:
    found = Path("found")
    found.write_text(f"{one.name} {one.words} {one.index.read_text()}")
    return found


@step(image="python:3.12-slim")
def join(counted: list[Counted], doubled: list[float], checked: list[Path], first: int) -> Path:
    joined = Path("joined")
    rows = [f"{one.name} {one.words} {one.index.read_text()}" for one in counted]
    joined.write_text("\n".join([*rows, *map(str, doubled), *(one.read_text() for one in checked), str(first)]))
    return joined


@pipeline
def loops(total: int = 3) -> Path:
    made = names(total)
    counted = fan_out(count, over={"name": made}, parallel=2, source=DATA / "words")
    doubled = fan_out(double, over=grid(size=[1, 2], speed=[0.5, 1.0]))
    texts = fan_out(count, over={"name": ['say "hi"', "a\\b", "{{not a tag}}"[0:1]]}, source=DATA / "words")
    checked = fan_out(check, over={"one": counted})
    numbers = fan_out(again, over={"words": range(3)})
    files = fan_out(count, over={"source": [DATA / "a", DATA / "b"]}, name="x")
    join.options(name="other")(texts, doubled, fan_out(check, over={"one": files}), numbers[1])
    return join(counted, doubled, checked, counted[0].words)
