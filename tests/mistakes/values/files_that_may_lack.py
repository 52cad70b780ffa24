"""A file that may not be there, as a condition: Argo has no text for it."""

from pathlib import Path

from flowdsl import pipeline, step, when


@step(image="python:3.12-slim")
def make(rows: int) -> Path | None:
    return None


@step(image="python:3.12-slim")
def publish(note: Path | None) -> None:
    print(note)


@pipeline
def main(rows: int = 1) -> None:
    note = make(rows)
    with when(note != None):  # noqa: E711 -- it is no Python
        publish(note)
