from pathlib import Path

from flowdsl import Volume, pipeline, step

WORDS = Volume("words")


@step(image="python:3.12-slim")
def clean(text: str, table: Path) -> str:
    stop_words = table.read_text().split()
    return " ".join(word for word in text.split() if word not in stop_words)


@pipeline
def nightly() -> None:
    clean("an example", WORDS / "stop_words.txt")
