"""A depth that no clone can have."""

from pathlib import Path

from flowdsl import Git, pipeline, step


@step(image="python:3.12-slim")
def use(file: Path) -> None:
    print(file)


@pipeline
def nightly() -> None:
    use(Git("https://example.com/team/data.git", revision="v1.0.0", depth=0))
