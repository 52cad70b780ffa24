"""Several results where there is one text."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import command, container, http, pipeline, request


class Answer(NamedTuple):
    status: str
    count: int


@http()
def ask() -> Answer:
    return request("GET", "https://example.com")


@container(image="postgres:16", daemon=True)
def database() -> int:
    return command("postgres")


@pipeline
def nightly() -> None:
    ask()
    database()
