"""More tasks than one graph may have, with branches, files, optional values and loops across the groups."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import either, fan_out, maximize, otherwise, pipeline, step, sweep, when

PYTHON = "python:3.12-slim"


class Pair(NamedTuple):
    left: int
    right: str | None


@step(image=PYTHON)
def add(x: int, y: int) -> int:
    """The sum."""
    return x + y


@step(image=PYTHON)
def both(x: int, text: str) -> Pair:
    """A number and perhaps a text."""
    return Pair(x * 2, f"{text}{x}" if x % 2 else None)


@step(image=PYTHON)
def keep(x: int, before: Path | None = None) -> Path:
    """A file with what was kept before, and a number."""
    file = Path("kept")
    file.write_text((before.read_text() + " " if before else "") + str(x))
    return file


@step(image=PYTHON)
def sum_up(numbers: list[int], files: list[Path], text: str) -> str:
    """All of it as text."""
    return f"{sum(numbers)} {[file.read_text() for file in files]} {text}"


@pipeline
def inner(x: int) -> Pair:
    """A sub-pipeline."""
    with when(x > 100):
        high = both(x - 100, "high")
    with otherwise():
        low = both(x, "low")
    return either(high, low)


def body(count: int, start: int, text: str) -> str:
    """What both pipelines do, with so many tasks in a row, twice."""
    first = both(start, text)
    kept = keep(first.left)
    with when(first.left > 4):
        yes = both.options(name="yes")(first.left, "yes")
        yes_file = keep.options(name="yes-file")(yes.left, kept)
    with otherwise():
        no = add.options(name="no")(first.left, 40)
        no_file = keep.options(name="no-file")(no)
    value = first.left
    for number in range(count):
        value = add.options(name=f"a{number}")(value, number)
    with when((value > 4500) & (first.right == None)):  # noqa: E711
        middle = both.options(name="middle")(value, text)
    last = add.options(name="joined")(either(yes.left, no), either(middle.left, value))
    for number in range(count):
        last = add.options(name=f"b{number}")(last, start * number)
    counted = fan_out(add, over={"x": [1, last, 3]}, y=value)
    best = sweep(both, over={"x": [3, 8, 5]}, objective=maximize("left"), text=f"{text}-{last}")
    sub = inner(last)
    with when(last / 2 > value):
        late = keep.options(name="late")(last, either(yes_file, no_file))
    text_of = either(either(middle.right, yes.right), f"{text} {last}")
    numbers = [last, value, either(yes.left, 0), sub.left, best.best.left, counted[1]]
    files = [kept, either(late, kept), either(yes_file, no_file)]
    return sum_up(numbers, files, f"{text_of} {either(sub.right, '-')} {either(best.best.right, '-')}")


@pipeline
def large(start: int = 1, text: str = "t") -> str:
    return body(95, start, text)


@pipeline
def small(start: int = 1, text: str = "t") -> str:
    """The same, for a smaller limit."""
    return body(9, start, text)
