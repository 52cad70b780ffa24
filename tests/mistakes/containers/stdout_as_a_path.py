"""What a command prints, asked for as if it were a path."""

from pathlib import Path

from flowdsl import command, container, output, pipeline, step


@step(image="python:3.12-slim")
def write() -> Path:
    return Path("a.txt")


@container(image="busybox:1.37.0")
def cat(file: Path) -> str:
    return command("cat", file, stdout=output())


@pipeline
def nightly() -> str:
    return cat(write())
