"""Something is mounted below a file."""

from flowdsl import Config, Scratch, Secret, pipeline, step


@step(
    image="python:3.12-slim",
    mounts={
        "/etc/train.toml": Config("training", "train.toml"),
        "/etc/train.toml/parts": Scratch(),
        "/etc/token": Secret("hub", "token"),
        "/etc/tokens": Config("training"),
    },
)
def train(rate: float) -> float:
    return 1 - rate


@pipeline
def nightly(rate: float = 0.1) -> float:
    return train(rate)
