"""Lists of files of which a loop cannot know what is in them."""

from pathlib import Path

from flowdsl import command, container, fan_out, output, pipeline, step


@container(image="busybox:1.37.0")
def unpack(count: int) -> list[Path]:
    return command("/bin/unpack", "--count", count, "--into", output())


@step(image="python:3.12-slim")
def groups(count: int) -> list[dict[str, Path]]:
    return [{"text": Path("text.txt")} for _ in range(count)]


@step(image="python:3.12-slim")
def shards(count: int) -> list[Path]:
    return [Path(f"{number}.txt") for number in range(count)]


@step(image="python:3.12-slim")
def size(file: Path) -> int:
    return file.stat().st_size


@step(image="python:3.12-slim")
def sizes(group: dict[str, Path]) -> int:
    return len(group)


@pipeline
def split(count: int) -> list[Path]:
    return shards(count)


@pipeline
def nightly() -> None:
    fan_out(size, over={"file": unpack(2)})
    fan_out(sizes, over={"group": groups(2)})
    fan_out(size.options(name="again"), over={"file": split(2)})
