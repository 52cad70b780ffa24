"""A path for an input that is no file."""

from pathlib import Path

from flowdsl import Http, command, container, pipeline


@container(image="trainer:1")
def train(data: Path, rate: float) -> None:
    command("/bin/train", paths={"data": "/in/data", "rate": "/in/rate"})


@pipeline
def nightly() -> None:
    train(Http("https://example.com/data"), 0.1)
