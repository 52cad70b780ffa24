from pathlib import Path
from typing import NamedTuple

from flowdsl import command, container, fan_out, output, pipeline, step


class Group(NamedTuple):
    text: Path


@container(image="busybox:1.37.0")
def unpack(count: int) -> Path:
    return command("/bin/unpack", "--count", count, "--into", output())


@step(image="python:3.12-slim")
def unpacked(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


@step(image="python:3.12-slim")
def groups(count: int) -> list[Group]:
    return [Group(Path("text.txt")) for _ in range(count)]


@step(image="python:3.12-slim")
def shards(count: int) -> list[Path]:
    return [Path(f"{number}.txt") for number in range(count)]


@step(image="python:3.12-slim")
def size(file: Path) -> int:
    return file.stat().st_size


@step(image="python:3.12-slim")
def sizes(group: Group) -> int:
    return group.text.stat().st_size


@pipeline
def nightly() -> None:
    fan_out(size, over={"file": unpacked(unpack(2))})
    fan_out(sizes, over={"group": groups(2)})
    fan_out(size.options(name="again"), over={"file": shards(2)})
