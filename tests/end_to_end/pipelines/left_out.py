"""The numbers of the items that failed, of loops over files: of one step, of another loop, in a pipeline that loops."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import failed, fan_out, pipeline, step

PYTHON = "python:3.12-slim"


class Part(NamedTuple):
    name: str
    file: Path


@step(image=PYTHON)
def split(count: int) -> list[Part]:
    found: list[Part] = []
    for number in range(count):
        file = Path(f"{number}.txt")
        file.write_text("x" * number)
        found.append(Part(f"p{number}", file))
    return found


@step(image=PYTHON)
def check(part: Part) -> Path:
    if part.name == "p1":
        raise ValueError(part.name)
    out = Path("out.txt")
    out.write_text(part.file.read_text() + "!")
    return out


@step(image=PYTHON)
def size(file: Path) -> int:
    if not (text := file.read_text().rstrip("!")):
        raise ValueError("empty")
    return len(text)


@step(image=PYTHON)
def say(numbers: list[int], sizes: list[int]) -> str:
    return f"{numbers} {sizes}"


@pipeline
def inner(count: int) -> str:
    parts = split(count)
    checked = fan_out(check, over={"part": parts}, keep_going=True)
    sizes = fan_out(size, over={"file": checked}, keep_going=True)
    say(failed(checked), [])
    return say.options(name="last")(failed(sizes), sizes)


@pipeline
def left_out(counts: list[int] = [2, 4]) -> None:  # noqa: B006
    fan_out(inner, over={"count": counts})
