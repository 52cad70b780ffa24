"""The name of a lock with a slash."""

from flowdsl import Mutex, pipeline, step


@step(image="python:3.12-slim", locks=[Mutex("rack/gpu")])
def train() -> None: ...


@pipeline
def nightly() -> None:
    train()
