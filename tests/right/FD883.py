from flowdsl import Retry, pipeline, step


@step(image="python:3.12-slim", retries=Retry(5, wait="30s", factor=2, longest="10m"))
def train() -> None: ...


@pipeline
def nightly() -> None:
    train()
