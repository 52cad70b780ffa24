"""Cached steps that take lists of files without digests: of several steps, of loops inside, of a program."""

from pathlib import Path

from flowdsl import command, container, either, fan_out, otherwise, output, pipeline, step, when


@step(image="python:3.12-slim")
def small(name: str) -> Path:
    return Path(name)


@step(image="python:3.12-slim")
def large(name: str) -> Path:
    return Path(name) / "large"


@container(image="busybox:1.37.0")
def copy(name: str) -> Path:
    return command("cp", name, output())


@step(image="python:3.12-slim", cache=True)
def compare(files: list[Path]) -> int:
    return len(files)


@step(image="python:3.12-slim", cache=True)
def compare_all(files: list[list[Path]]) -> int:
    return len(files)


@pipeline
def one_of(name: str) -> Path:
    with when(name == "a"):
        first = small(name)
    with otherwise():
        second = large(name)
    return either(first, second)


@pipeline
def several(name: str) -> list[Path]:
    return fan_out(small, over={"name": [name, "z"]})


@pipeline
def nightly() -> None:
    names = {"name": ["a", "b"]}
    compare(fan_out(small, over=names))
    compare.options(name="branches")(fan_out(one_of, over=names))
    compare_all(fan_out(several, over=names))
    compare.options(name="copies")(fan_out(copy, over=names))
