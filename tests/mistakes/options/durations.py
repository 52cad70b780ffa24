"""Times that Argo does not read."""

from datetime import timedelta

from flowdsl import pipeline, step


@step(image="python:3.12-slim", timeout="2 hours")
def train(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", timeout="soon")
def evaluate(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", timeout=0)
def publish(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", timeout=1.5)
def notify(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", timeout=timedelta(hours=-1))
def clean_up(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    train(0.1)
    evaluate(0.1)
    publish(0.1)
    notify(0.1)
    clean_up(0.1)
