"""What a command prints is one text; and parts of a command of the wrong type."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import command, container, output, pipeline


class Found(NamedTuple):
    lines: int
    words: int


@container(image="alpine:3.20")
def count(text: str) -> Found:
    return command("wc", "-lw", text, stdout=True)


@container(image="alpine:3.20")
def sort(text: str) -> Path:
    return command("sort", text, stdout=True)


@container(image="alpine:3.20")
def odd(text: str) -> str:
    return command("sort", output(), source=text, stdout="yes", env=[text])


@pipeline
def nightly(text: str = "a") -> None:
    count(text)
    sort(text)
    odd(text)
