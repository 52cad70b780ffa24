"""A relative path of a node."""

from flowdsl import Host, pipeline, step


@step(image="python:3.12-slim", mounts={"/cache": Host("mnt/cache")})
def train(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    train(0.1)
