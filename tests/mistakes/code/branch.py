"""A branch as the revision of modules."""

from flowdsl import Git, pipeline, step

MODELS = Git("https://example.com/team/models.git", revision="main")


@step(image="python:3.12-slim", code=MODELS / "src")
def train(rows: int) -> int:
    return rows


@pipeline
def nightly() -> None:
    train(3)
