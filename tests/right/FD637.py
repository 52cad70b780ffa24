from pathlib import Path

from flowdsl import S3, fan_out, pipeline, step


@step(image="python:3.12-slim")
def count(text: Path) -> int:
    return len(text.read_text())


@pipeline
def nightly() -> None:
    fan_out(count, over={"text": [S3("raw/a.txt"), S3("raw/b.txt")]})
