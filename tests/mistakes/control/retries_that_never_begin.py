"""Retries that never begin, a step that has more time than its run, and one that may wait longer than run."""

from flowdsl import Retry, pipeline, step


@step(image="python:3.12-slim", retries=Retry(3, wait="1h", within="10m"))
def train(rows: int) -> int:
    return rows


@step(image="python:3.12-slim", retries=Retry(3, policy="OnError", exit_codes=[137]))
def score(rows: int) -> int:
    return rows


@step(image="python:3.12-slim", where="host == node-7", retries=Retry(2, elsewhere=True))
def bound(rows: int) -> int:
    return rows


@step(image="python:3.12-slim", timeout="10m", queue_timeout="30m")
def waiting(rows: int) -> int:
    return rows


@pipeline
def part(rows: int) -> int:
    return bound(waiting(rows))


@step(image="python:3.12-slim", timeout="10h")
def show(rows: int) -> int:
    return rows


@pipeline(timeout="1h")
def main(rows: int = 1) -> int:
    return show(score(train(part.options(retries=Retry(2, exit_codes=[1, 3]))(rows))))
