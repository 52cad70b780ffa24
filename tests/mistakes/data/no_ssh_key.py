"""A repository over SSH, and nothing to log in with."""

from pathlib import Path

from flowdsl import Git, pipeline, step


@step(image="python:3.12-slim")
def count(models: Path) -> int:
    return len(list(models.iterdir()))


@pipeline
def nightly() -> None:
    count(Git("git@example.com:team/models.git", "v1.4.0"))
