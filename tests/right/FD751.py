from pathlib import Path

from flowdsl import Http, command, container, pipeline


@container(image="trainer:1")
def train(data: Path, rate: float) -> None:
    command("/bin/train", "--rate", rate, paths={"data": "/in/data"})


@pipeline
def nightly() -> None:
    train(Http("https://example.com/data"), 0.1)
