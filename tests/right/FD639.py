from pathlib import Path

from flowdsl import S3, pipeline, step, when


@step(image="python:3.12-slim")
def look(file: Path) -> None:
    print(file)


@pipeline
def checked(file: Path) -> None:
    look(file)


@pipeline
def nightly(check: bool = False) -> None:
    raw = S3("raw/reviews.txt")
    with when(check):
        checked(raw)
    look(raw)
