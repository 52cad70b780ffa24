from flowdsl import Retry, pipeline, step


@step(image="python:3.12-slim", retries=Retry(5, wait="1m", factor=2, longest="30s"))
def train() -> None: ...


@pipeline
def nightly() -> None:
    train()
