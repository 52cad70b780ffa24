from flowdsl import Retry, pipeline, step


@step(image="python:3.12-slim", retries=Retry(1))
def train() -> None: ...


@pipeline
def nightly() -> None:
    train()
