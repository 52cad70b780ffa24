"""Cached steps without a result: one that returns nothing, and one that serves."""

from pathlib import Path

from flowdsl import S3, command, container, pipeline, step


@step(image="python:3.12-slim", cache=True)
def publish(model: Path) -> None:
    print(model)


@container(image="postgres:16", daemon=True, cache=True)
def database() -> str:
    return command("postgres")


@step(image="python:3.12-slim")
def load(host: str) -> None:
    print(host)


@pipeline
def nightly() -> None:
    publish(S3("models/base.bin"))
    load(database())
