from flowdsl import Retry, pipeline, step


@step(image="python:3.12-slim", retries=Retry(2, wait="10s", longest="1m"))
def train() -> None: ...


@pipeline
def nightly() -> None:
    train()
