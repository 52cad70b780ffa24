"""Cached steps that take the file of a container, which nobody digests, and the files of lists."""

from pathlib import Path

from flowdsl import Raw, command, container, either, fan_out, output, pipeline, step, when


@container(image="busybox:1.36")
def fetch(url: str) -> Path:
    return command("wget", "-O", output(), url)


@step(image="python:3.12-slim", cache=True)
def count(table: Path) -> int:
    return len(table.read_bytes())


@step(image="python:3.12-slim")
def split(table: str) -> list[Path]:
    return [Path(table)]


@step(image="python:3.12-slim", cache=True)
def clean(table: Path) -> Path:
    return table.rename("clean.csv")


@pipeline
def nightly(more: bool = False) -> None:
    count(fetch("https://example.com/table.csv"))
    fan_out(count.options(name="each"), over={"table": split("a")})
    fan_out(count.options(name="kept"), over={"table": split.options(name="parts", cache=True)("b")})
    usual = clean(Raw("a"))
    with when(more):
        better = clean(Raw("b"))
    count.options(name="chosen")(either(better, usual))
