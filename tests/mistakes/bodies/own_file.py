"""A step that looks for a file beside its own."""

from pathlib import Path

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def clean(text: str) -> str:
    stop_words = (Path(__file__).parent / "stop_words.txt").read_text().split()
    return " ".join(word for word in text.split() if word not in stop_words)


@pipeline
def nightly() -> None:
    clean("an example")
