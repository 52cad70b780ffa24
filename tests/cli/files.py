"""Files that commands are given, and what they wrote."""

from __future__ import annotations

from pathlib import Path

import yaml

PIPELINE = """\
from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def hello(name: str) -> str:
    return f"hello {name}"


@pipeline
def greet(name: str = "you") -> None:
    hello(name)
"""

TWO = (
    PIPELINE
    + """

@pipeline
def inner() -> None:
    hello("inside")


@pipeline(name="good-night")
def night() -> None:
    inner()
"""
)

WRONG = PIPELINE.replace("hello(name)\n", "hello(nmae=name)\n", 1)


def write(name: str, text: str) -> Path:
    path = Path(name)
    path.write_text(text, encoding="utf-8", newline="")
    return path


def listing(folder: str = ".") -> list[str]:
    return sorted(path.name for path in Path(folder).iterdir())


def names(text: str) -> list[str]:
    return [document["metadata"]["generateName"] for document in yaml.safe_load_all(text)]
