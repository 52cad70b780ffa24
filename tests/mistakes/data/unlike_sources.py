"""Fan-outs over files from a store, from the repository, from a request; of a step and on a volume."""

from pathlib import Path

from flowdsl import S3, Http, Volume, fan_out, pipeline, step


@step(image="python:3.12-slim")
def count(text: Path) -> int:
    return len(text.read_text())


@pipeline
def nightly() -> None:
    fan_out(count, over={"text": [S3("raw/a.txt"), S3("raw/b.txt", "other"), Http("https://example.com/c.txt")]})


@step(image="python:3.12-slim")
def made(size: int) -> Path:
    return Path("made.txt")


@pipeline
def others() -> None:
    fan_out(count, over={"text": [made(1), Volume("datasets") / "b.txt"]})


@step(image="python:3.12-slim")
def optional(text: Path | None) -> int:
    return 0 if text is None else len(text.read_text())


@pipeline
def missing() -> None:
    fan_out(optional, over={"text": [Http("https://example.com/a.txt"), None]})
    fan_out(count, over={"text": [Http("https://example.com/a.txt"), Volume("datasets") / "b.txt"]})
