from pathlib import Path

from flowdsl import command, container, pipeline, step


@step(image="python:3.12-slim")
def write(times: int) -> Path:
    text = Path("text.txt")
    text.write_text("lorem ipsum " * times)
    return text


@container(image="trainer:2.4.0")
def report(text: Path) -> None:
    command("/bin/report", "--text", text)


@pipeline
def nightly() -> None:
    report(write(20_000))
