"""A cached step that takes the file of a container, which nobody digests."""

from pathlib import Path

from flowdsl import command, container, output, pipeline, step


@container(image="busybox:1.36")
def fetch(url: str) -> Path:
    return command("wget", "-O", output(), url)


@step(image="python:3.12-slim", cache=True)
def count(table: Path) -> int:
    return len(table.read_bytes())


@pipeline
def nightly() -> None:
    count(fetch("https://example.com/table.csv"))
