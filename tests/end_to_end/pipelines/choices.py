"""Branches taken and not taken, optional values and files, and what stands in for them."""

from enum import Enum
from pathlib import Path
from typing import Literal, NamedTuple

from flowdsl import either, otherwise, pipeline, step, unless, when

PYTHON = "python:3.12-slim"


class Mode(Enum):
    FAST = 1
    EXACT = 2


class Found(NamedTuple):
    file: Path
    size: int
    note: str | None


@step(image=PYTHON)
def search(word: str, size: int) -> Found:
    """A file with a word, and a note of it, if there are two or more."""
    file = Path("found.txt")
    file.write_text(word * size)
    return Found(file, size, f"many of {word}" if size > 1 else None)


@step(image=PYTHON)
def perhaps(size: int) -> Path | None:
    """A file, or none where its size is 0."""
    if size == 0:
        return None
    file = Path("perhaps.txt")
    file.write_text("p" * size)
    return file


@step(image=PYTHON)
def rate(size: int) -> float | None:
    """A rate, or none where the size is 0."""
    return 1 / size if size else None


@step(image=PYTHON)
def mode(size: int) -> Mode:
    """The mode for a size."""
    return Mode.FAST if size < 5 else Mode.EXACT


@step(image=PYTHON)
def tell(text: str, number: float, flag: bool, file: Path | None = None) -> str:
    """All that came, as text."""
    return f"{text} {number} {flag} {file.read_text() if file else 'no file'}"


@step(image=PYTHON)
def show(note: str | None, mode: Mode, kind: Literal["a", "b"], rate: float | None) -> None:
    """Print all that came."""
    print(repr(note), mode, kind, rate)  # noqa: T201


@pipeline
def inner(size: int, word: str) -> Found:
    """A branch in a sub-pipeline, whose value is handed on by `either`."""
    with when(size > 3):
        large = search(word, size - 3)
    with otherwise():
        with when(size > 1):
            small = search(word, size)
        with otherwise():
            least = search(word, size + 1)
    half = either(either(large.size / 2, small.size * 0.5), least.size + 0.5)
    tell.options(name="half")(word, half, size > 2)
    return Found(
        either(either(large.file, small.file), least.file),
        either(either(large.size, small.size), least.size),
        either(either(large.note, small.note), least.note),
    )


@pipeline
def choices(size: int = 2, word: str = "ab", kind: Literal["a", "b"] = "a", force: bool = False) -> str:
    found = search(word, size)
    file = perhaps(size - 1)
    speed = rate(size - 1)
    how = mode(size)
    show(found.note, how, kind, speed)
    tell.options(name="straight")(either(found.note, "no note"), either(speed, 0.5), force, file)
    with when(kind == "a"):
        first = rate.options(name="first")(size)
        with when(how == Mode.FAST):
            second = search.options(name="second")(f"{word}!", size + 1)
            with unless(force):
                tell.options(name="deep")(word, size / 2, (size > 1) & force, second.file)
        with otherwise():
            third = search.options(name="third")(word, 1)
    with otherwise():
        fourth = rate.options(name="fourth")(size + 1)
    with when(found.note == None):  # noqa: E711
        tell.options(name="none")("no note", size, force)
    with when((word != "ab") | (found.note != None)):  # noqa: E711
        tell.options(name="some")(either(found.note, "-"), either(first, either(fourth, 9.0)), force)
    with when((found.note == f"many of {word}") & (speed != 2)):
        tell.options(name="equal")("equal", 1.0, speed == 1.0)
    best = either(second.file, either(third.file, found.file))
    picked = either(third, found)
    tell.options(name="picked")(
        either(picked.note, "no note"), either(picked.size, 0) / 2, force, picked.file
    )
    both = inner(size, word)
    tell.options(name="both")(either(both.note, "nothing"), both.size, both.size == size, both.file)
    return tell.options(name="last")(either(second.note, f"{word} {size}"), either(first, 0.25), force, best)
