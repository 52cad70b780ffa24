from pathlib import Path

from flowdsl import Git, pipeline, step


@step(image="python:3.12-slim")
def show(repository: Path) -> None:
    print(sorted((repository / "src").iterdir()))


@pipeline
def nightly() -> None:
    show(Git("https://example.com/team/models.git", "v1.4.0"))
