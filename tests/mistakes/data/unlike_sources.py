"""A fan-out over files from a store, from the repository, and from a request."""

from pathlib import Path

from flowdsl import S3, Http, fan_out, pipeline, step


@step(image="python:3.12-slim")
def count(text: Path) -> int:
    return len(text.read_text())


@pipeline
def nightly() -> None:
    fan_out(count, over={"text": [S3("raw/a.txt"), S3("raw/b.txt", "other"), Http("https://example.com/c.txt")]})
