from pathlib import Path

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def clean(text: str) -> Path:
    cleaned = Path("/tmp/clean.txt")
    cleaned.write_text(text)
    return cleaned


@pipeline
def nightly() -> None:
    clean("a")
