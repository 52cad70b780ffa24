from pathlib import Path

from flowdsl import Git, pipeline, step


@step(image="python:3.12-slim")
def show(sources: Path) -> None:
    print(sorted(sources.iterdir()))


@pipeline
def nightly() -> None:
    show(Git("https://example.com/team/models.git", "v1.4.0") / "src")
