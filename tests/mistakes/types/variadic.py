"""Inputs without fixed names."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def concatenate(*parts: str, **options: str) -> str:
    return options.get("separator", "").join(parts)


@pipeline
def each(*parts: str) -> None:
    concatenate(parts[0])


@pipeline
def nightly() -> None:
    concatenate("a", "b", separator=" ")
