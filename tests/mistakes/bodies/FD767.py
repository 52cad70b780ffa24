"""A module that the image cannot have."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def count(text: str) -> int:
    import yaml

    return len(yaml.safe_load(text))


@pipeline
def nightly() -> None:
    count("[orders, users]")
