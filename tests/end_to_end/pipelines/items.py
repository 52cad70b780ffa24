"""Loops over lists of all kinds, over the results of loops, in loops, and over nothing."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import Volume, fan_out, grid, pipeline, step

PYTHON = "python:3.12-slim"
DATA = Volume("data")


class Box(NamedTuple):
    label: str
    sizes: list[int]


class Packed(NamedTuple):
    file: Path
    text: str
    weight: float | None


@step(image=PYTHON)
def words(count: int) -> list[str]:
    """Texts that are hard to hand on."""
    hard = [
        'say "hi"',
        "a\\b",
        "two\nlines",
        "tab\there",
        "\U0001f600 \U0001f1e9\U0001f1ea",
        "$HOME $(PATH) $$",
        "",
        "{one}",
        "'",
    ]
    return hard[:count]


@step(image=PYTHON)
def pieces(text: str) -> list[str]:
    """The characters of a text."""
    return list(text)


@step(image=PYTHON)
def boxes(labels: list[str]) -> list[Box]:
    """A box for each label."""
    return [Box(label, list(range(number))) for number, label in enumerate(labels)]


@step(image=PYTHON)
def pack(label: str, number: int) -> Packed:
    """A file with a label."""
    file = Path("packed")
    file.write_text(f"<{label}> {number}")
    return Packed(file, label, number / 2 if number else None)


@step(image=PYTHON)
def weigh(box: Box, scale: float) -> dict[str, float]:
    """The weight of a box by its label."""
    return {box.label: sum(box.sizes) * scale}


@step(image=PYTHON)
def unpack(packed: Packed) -> str:
    """What is in a file, and beside it."""
    return f"{packed.file.read_text()}|{packed.text}|{packed.weight}"


@step(image=PYTHON)
def shelf(packed: list[Packed], name: str) -> dict[str, Path]:
    """All packed things by number."""
    found: dict[str, Path] = {}
    for number, one in enumerate(packed):
        file = Path(f"{number}.txt")
        file.write_text(f"{name} {one.file.read_text()} {one.text} {one.weight}")
        found[f"{name} {number}"] = file
    return found


@step(image=PYTHON)
def paths(count: int) -> list[Path]:
    """Some files."""
    found = [Path(f"file{number}.txt") for number in range(count)]
    for number, file in enumerate(found):
        file.write_text(f"file {number}")
    return found


@step(image=PYTHON)
def total(
    texts: list[str], weights: list[dict[str, float]], shelf: dict[str, Path], files: list[Path], one: Packed
) -> str:
    """All of it as text."""
    parts = [*texts, str(weights), *(f"{name}={path.read_text()}" for name, path in shelf.items())]
    return "/".join([*parts, *(file.read_text() for file in files), one.file.read_text(), one.text])


@step(image=PYTHON)
def times(left: int, right: float, words: list[str]) -> list[float]:
    """Numbers of two lists."""
    return [left * right] * len(words)


@step(image=PYTHON)
def flat(rows: list[list[float]]) -> float:
    """The sum of all."""
    return sum(map(sum, rows))


@step(image=PYTHON)
def count(texts: list[str]) -> int:
    """How many."""
    return len(texts)


@step(image=PYTHON)
def many(sizes: list[int]) -> str:
    """The numbers as text."""
    return "+".join(map(str, sizes))


@step(image=PYTHON)
def read(folder: Path, name: str) -> str:
    """The text of a file of a folder."""
    return (folder / name).read_text()


@pipeline
def each(label: str, number: int) -> Packed:
    """Two steps for each item, with a loop in between."""
    packed = pack(label, number)
    again = fan_out(pack, over={"number": [1, 2]}, label=packed.text)
    rows = fan_out(unpack, over={"packed": again})
    last = pack.options(name="last")(label, count(rows))
    return Packed(packed.file, last.text, last.weight)


@pipeline
def items(size: int = 3) -> str:
    texts = words(size)
    packed = fan_out(pack, over={"label": texts}, number=size, parallel=2)
    unpacked = fan_out(unpack, over={"packed": packed})
    weights = fan_out(weigh, over={"box": boxes(texts)}, scale=0.5)
    table = fan_out(times, over=grid(left=[1, 2], right=[0.5, 1e-07]), words=texts)
    walked = fan_out(times, over={"left": [3, size], "right": [1.5, size / 3]}, words=["x", f"{size}"])
    lists = fan_out(pieces, over={"text": unpacked})
    counts = fan_out(count, over={"texts": lists})
    some = fan_out(count, over={"texts": fan_out(words, over={"count": [1, 2, size]})})
    pairs = fan_out(pack, over={"label": ["one", "two", "three"], "number": some})
    deep = fan_out(each, over={"label": unpacked, "number": counts})
    deeper = fan_out(unpack, over={"packed": deep})
    on_volume = fan_out(read, over={"name": ["a b", "c'd"]}, folder=DATA / "folder")
    folders = fan_out(read, over={"folder": [DATA / "folder", DATA / "other"]}, name="a b")
    many.options(name="numbers")([size, size * 2, 7])
    flat(table)
    count.options(name="pair-count")(fan_out(unpack, over={"packed": pairs}))
    flat.options(name="walked-sum")(walked)
    count.options(name="deeper-count")(deeper)
    count.options(name="volume-count")(on_volume)
    count.options(name="folders-count")(folders)
    kept = shelf(packed, f"shelf {size}")
    return total(unpacked, weights, kept, paths(size), packed[0])
