"""Files deep inside of what the items of loops return, and a loop over tuples with files."""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from flowdsl import fan_out, pipeline, step

PYTHON = "python:3.12-slim"


class Part(NamedTuple):
    file: Path
    size: int


@dataclass
class Whole:
    first: Part
    rest: list[Part]
    last: Path | None


Several = tuple[str | None, list[Path] | None, int | None]


def written(text: str) -> Path:
    file = Path(f"{text}.txt")
    file.write_text(text)
    return file


@step(image=PYTHON)
def pairs(count: int) -> list[tuple[Path, int]]:
    return [(written(str(at)), at) for at in range(count)]


@step(image=PYTHON)
def joined(pair: tuple[Path, int]) -> str:
    return f"{pair[0].read_text()}:{pair[1]}"


@step(image=PYTHON)
def parts(count: int) -> list[Part]:
    return [Part(written(str(at)), at) for at in range(count)]


@step(image=PYTHON)
def named(count: int) -> dict[str, Part]:
    return {"x": Part(written("x"), count)}


@step(image=PYTHON)
def whole(count: int) -> Whole:
    rest = [Part(written("b"), 1), Part(written("c"), 2)]
    return Whole(Part(written("a"), count), rest, written("d") if count % 2 else None)


@step(image=PYTHON)
def several(count: int) -> Several:
    return (None, None, None) if count == 2 else ("s", [written("1")], 5)


@step(image=PYTHON)
def show_parts(all: list[list[Part]]) -> str:
    return repr([[(one.file.read_text(), one.size) for one in each] for each in all])


@step(image=PYTHON)
def show_named(all: list[dict[str, Part]]) -> str:
    return repr([{name: (one.file.read_text(), one.size) for name, one in each.items()} for each in all])


@step(image=PYTHON)
def show_whole(one: Whole) -> str:
    rest = [(part.file.read_text(), part.size) for part in one.rest]
    return repr((one.first.file.read_text(), one.first.size, rest, one.last and one.last.read_text()))


@step(image=PYTHON)
def count_wholes(all: list[Whole]) -> str:
    return repr([(one.first.size, len(one.rest), one.last is None) for one in all])


@step(image=PYTHON)
def show_several(all: list[Several]) -> str:
    return repr(
        [(text, None if files is None else [one.read_text() for one in files]) for text, files, _ in all]
    )


@pipeline
def bundles(count: int = 3) -> None:
    fan_out(joined, over={"pair": pairs(count)})
    show_parts(fan_out(parts, over={"count": [1, 2]}))
    show_named(fan_out(named, over={"count": [1, 2]}))
    wholes = fan_out(whole, over={"count": [1, 2]})
    count_wholes(wholes)
    show_whole(wholes[1])
    show_several(fan_out(several, over={"count": [1, 2]}))
