"""Pipelines in pipelines: with a path and with a file, twice, with files handed back."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import Volume, fan_out, pipeline, step

DATA = Volume("datasets")


class Pair(NamedTuple):
    left: Path
    size: int


@step(image="python:3.12-slim")
def half(data: Path, part: int) -> Pair:
    left = Path("left.txt")
    left.write_text(f"{data.read_text()}/{part}")
    return Pair(left, part * 2)


@step(image="python:3.12-slim")
def merge(pairs: list[Pair], names: dict[str, Path], sizes: list[int]) -> Path:
    merged = Path("merged.txt")
    texts = [f"{pair.left.read_text()} {pair.size}" for pair in pairs]
    texts += [f"{name}: {path.read_text()}" for name, path in names.items()]
    merged.write_text("\n".join([*texts, str(sizes)]))
    return merged


@step(image="python:3.12-slim")
def label(pair: Pair) -> dict[str, Path]:
    return {"left": pair.left}


@pipeline
def parts(data: Path, count: int) -> Pair:
    first = half(data, count)
    second = half(first.left, first.size + 1)
    return Pair(second.left, second.size)


@pipeline
def nested(count: int = 2) -> Path:
    one = parts(DATA / "raw", count)
    two = parts(one.left, one.size)
    names = label(two)
    many = fan_out(parts, over={"count": [1, 2, 3]}, data=one.left)
    return merge(many, names, [one.size, two.size, 7])
