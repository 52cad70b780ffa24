from pathlib import Path

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def write(times: int) -> Path:
    text = Path("text.txt")
    text.write_text("lorem ipsum " * times)
    return text


@step(image="python:3.12-slim")
def count(text: Path) -> int:
    return len(text.read_text())


@pipeline
def nightly() -> None:
    count(write(20_000))
