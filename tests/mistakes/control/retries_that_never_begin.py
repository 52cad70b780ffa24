"""Retries that never begin, and a step that has more time than its run."""

from flowdsl import Retry, pipeline, step


@step(image="python:3.12-slim", retries=Retry(3, wait="1h", within="10m"))
def train(rows: int) -> int:
    return rows


@step(image="python:3.12-slim", retries=Retry(3, policy="OnError", exit_codes=[137]))
def score(rows: int) -> int:
    return rows


@step(image="python:3.12-slim", timeout="10h")
def show(rows: int) -> int:
    return rows


@pipeline(timeout="1h")
def main(rows: int = 1) -> int:
    return show(score(train(rows)))
