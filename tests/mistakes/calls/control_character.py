"""A literal with a character that breaks Argo's substitution."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def split(text: str, separator: str) -> list[str]:
    return text.split(separator)


@pipeline
def parse() -> None:
    split("a\x1fb", separator="\x1f")
