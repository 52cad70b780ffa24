"""Files that are taken one by one out of the lists and dicts that steps return."""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from flowdsl import either, fan_out, pipeline, step, when

PYTHON = "python:3.12-slim"


@dataclass
class Fold:
    train: Path
    test: Path | None
    number: int
    score: float


class Whole(NamedTuple):
    fold: Fold
    tags: list[str]


class Split(NamedTuple):
    parts: list[Path]
    named: dict[str, Path]
    folds: list[Fold]
    pairs: list[tuple[Path, int]]
    maybe: list[Path | None]
    wholes: list[Whole]


def written(name: str, text: str) -> Path:
    """A file with a text."""
    path = Path(name)
    path.write_text(text)
    return path


@step(image=PYTHON)
def split(count: int) -> Split:
    """Files in a list, in a dict, and in records."""
    parts = [written(f"part {number}.txt", f"part {number}") for number in range(count)]
    named = {"train": written("a", "train"), "test set": written("b", "test"), "it's": written("c", "other")}
    folds = [
        Fold(written(f"a{n}", f"train {n}"), written(f"b{n}", f"test {n}") if n else None, n, n / 4)
        for n in range(count)
    ]
    pairs = [(part, 2**53 + number) for number, part in enumerate(parts)]
    return Split(parts, named, folds, pairs, [None, parts[0]], [Whole(one, ["a", "b"]) for one in folds])


@step(image=PYTHON)
def pair(text: str) -> list[Path]:
    """Two files."""
    return [written("one", f"one {text}"), written("two", f"two {text}")]


@step(image=PYTHON)
def show(file: Path, note: str = "") -> str:
    """The text of a file."""
    return file.read_text() + note


@step(image=PYTHON)
def fit(fold: Fold, rate: float) -> str:
    """What is in a record with files."""
    test = fold.test.read_text() if fold.test is not None else "none"
    return f"{fold.train.read_text()} {test} {fold.number} {fold.score} {rate}"


@step(image=PYTHON)
def optional(file: Path | None, number: int) -> str:
    """The text of a file, if there is one."""
    return f"{file.read_text() if file is not None else 'none'} {number}"


@step(image=PYTHON)
def whole(one: Whole, pair: tuple[Path, int]) -> str:
    """What is in a record with a record, and in a tuple."""
    return f"{one.fold.train.read_text()} {one.tags} {pair[0].read_text()} {pair[1]}"


@step(image=PYTHON)
def many(parts: list[Path], named: dict[str, Path]) -> str:
    """The texts of several files."""
    return f"{[one.read_text() for one in parts]} {[(name, one.read_text()) for name, one in named.items()]}"


@pipeline
def inner(file: Path, text: str) -> Path:
    """A sub-pipeline that takes such a file, and returns another."""
    show(file)
    return pair(text)[1]


@pipeline
def taken(count: int = 3) -> str:
    data = split(count)
    show.options(name="first")(data.parts[0])
    show.options(name="last")(data.parts[-1])
    note = f" {data.folds[1].number} {data.folds[1].score}"
    show.options(name="train")(data.named["train"], note)
    show.options(name="quoted")(data.named["it's"])
    fit.options(name="fold")(data.folds[1], data.folds[-1].score * 2)
    fit.options(name="untested")(data.folds[0], 0.5)
    optional.options(name="pair")(data.pairs[1][0], data.pairs[1][1])
    optional.options(name="missing")(data.maybe[0], data.wholes[0].fold.number)
    optional.options(name="there")(data.maybe[1], 1)
    whole.options(name="whole")(data.wholes[-1], data.pairs[0])
    other = inner(data.named["test set"], "inside")
    show.options(name="handed")(other)
    with when(data.folds[-1].number == 2):
        two = pair("branch")
        show.options(name="within")(two[1])
    show.options(name="chosen")(either(two[0], data.parts[1]))
    fan_out(show.options(name="each"), over={"file": [data.parts[1], data.named["train"]]})
    return many([data.parts[1], data.parts[0]], {"a": data.named["train"], "b": data.folds[0].train})
