"""Amounts of CPU and memory that Kubernetes cannot read, and options of Kubernetes's own."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim", cpu="four", memory="8GB")
def words(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", resources={"memory": "8Gi"})
def resources(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", memory_request="8G", memory_limit="4G")
def request_above_limit(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", memory={"request": "8G", "limit": "4G"})
def request_and_limit(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    words(0.1)
    resources(0.1)
    request_above_limit(0.1)
    request_and_limit(0.1)
