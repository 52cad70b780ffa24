"""Retries, parallelism and times that Argo cannot read."""

from flowdsl import Retry, pipeline, step


@step(image="python:3.12-slim", retries=Retry(3, policy="Alwayss"))
def policy(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", retries=Retry("three"))
def limit(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", timeout=-60)
def deadline(lr: float) -> None:
    print(lr)


@pipeline(parallelism=-2, timeout=-1)
def nightly() -> None:
    policy(0.1)
    limit(0.1)
    deadline(0.1)
