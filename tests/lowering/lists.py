"""Loops over lists of files that a step made, alone and in records: a row for each says what is in the folder."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import Volume, container, fan_out, output, pipeline, step, when
from flowdsl import command as run

DATA = Volume("datasets")
PYTHON = "python:3.12-slim"


class Side(NamedTuple):
    file: Path
    weight: float


class Row(NamedTuple):
    text: Path
    number: int
    word: str
    side: Side
    note: Path | None


@step(image=PYTHON)
def split(count: int) -> list[Path]:
    files = [Path(f"{number} $ {{of}} '.txt") for number in range(count)]
    for number, file in enumerate(files):
        file.write_text("x" * number)
    return files


@step(image=PYTHON)
def rows(count: int) -> list[Row]:
    found: list[Row] = []
    for number in range(count):
        folder = Path(f"{number}")
        folder.mkdir()
        for name in ("text", "side", "note"):
            (folder / name).write_text(f"{name} {number}")
        note = folder / "note" if number else None
        word = f'"{number}"\\ $HOME\n'
        found.append(Row(folder / "text", 2**60 + number, word, Side(folder / "side", 1e-5), note))
    return found


@step(image=PYTHON)
def size(file: Path, extra: int = 0) -> int:
    return len(file.read_text()) + extra


@container(image="busybox:1.37.0")
def counted(file: Path) -> int:
    return run("sh", "-c", 'wc -c < "$FILE" > "$SIZE"', env={"FILE": file, "SIZE": output()})


@step(image=PYTHON)
def told(row: Row) -> str:
    texts = [file.read_text() for file in (row.text, row.side.file, row.note) if file is not None]
    return f"{row.number} {row.word!r} {row.side.weight} {texts}"


@step(image=PYTHON)
def many(files: list[Path]) -> bool:
    return len(files) > 1


@step(image=PYTHON)
def end(sizes: list[int], texts: list[str], others: list[int]) -> None:
    print(sizes, texts, others)


@pipeline
def inner(row: Row) -> str:
    return told(row)


@pipeline
def nested(count: int) -> list[int]:
    return fan_out(counted, over={"file": split(count)})


@step(image=PYTHON)
def add(lists: list[list[int]]) -> int:
    return sum(map(sum, lists))


class Told(NamedTuple):
    of: str
    sizes: list[int] | None


@pipeline
def recorded(count: int) -> Told:
    return Told(f'"{count}" $', nested(count))


@container(image="busybox:1.37.0")
def spoken(lists: list[list[int]], records: list[Told]) -> str:
    script = 'echo "$LISTS $RECORDS" > "$SAID"'
    return run("sh", "-c", script, env={"LISTS": lists, "RECORDS": records, "SAID": output()})


@pipeline
def lists(count: int = 2) -> None:
    files = split(count)
    sizes = fan_out(size, over={"file": files, "extra": [1, 2]})
    found = rows(count)
    texts = fan_out(told, over={"row": found})
    more = fan_out(inner, over={"row": found})
    sums = fan_out(nested, over={"count": [count, 3]})
    add(sums)
    spoken(sums, fan_out(recorded, over={"count": [1, 2]}))
    with when(many(files)):
        kept = split.options(store=DATA / "runs")(3)
        others = fan_out(size.options(name="others"), over={"file": kept}, extra=count)
        end(sizes, texts, others)
    end.options(name="last")(sizes, more, sizes)
