from pathlib import Path

from flowdsl import Volume, pipeline, step

WORDS = Volume("words")


@step(image="python:3.12-slim")
def clean(text: str, stop_words: Path) -> str:
    unwanted = set(stop_words.read_text().split())
    return " ".join(word for word in text.split() if word not in unwanted)


@pipeline
def nightly() -> None:
    clean("an example", WORDS / "stop.txt")
