"""A file that is read while the module is loaded."""

from pathlib import Path

from flowdsl import pipeline, step

STOP_WORDS = set((Path(__file__).parent / "file_read.py").read_text().split())


@step(image="python:3.12-slim")
def clean(text: str) -> str:
    return " ".join(word for word in text.split() if word not in STOP_WORDS)


@pipeline
def nightly() -> None:
    clean("an example")
