"""One lock asked for twice."""

from flowdsl import Mutex, pipeline, step


@step(image="python:3.12-slim", locks=[Mutex("gpu"), Mutex("gpu")])
def train() -> None: ...


@pipeline
def nightly() -> None:
    train()
