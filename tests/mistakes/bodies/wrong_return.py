"""Steps that return a constant of another type than they say."""

from pathlib import Path
from typing import Literal

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def count(table: str) -> int:
    return "3"


@step(image="python:3.12-slim")
def find(table: str) -> str:
    return table if table else None


@step(image="python:3.12-slim")
def write(table: str) -> Path:
    return "/tmp/out.txt"


@step(image="python:3.12-slim")
def judge(table: str) -> Literal["good", "bad"]:
    return "Good"


@step(image="python:3.12-slim")
def rows(table: str) -> list[int]:
    return [1, "2", None]


@step(image="python:3.12-slim")
def total(table: str) -> int:
    return {"rows": len(table)}


@step(image="python:3.12-slim")
def sizes(table: str) -> dict[str, int] | None:
    return [len(table)] if table else None


@pipeline
def nightly() -> None:
    count("orders")
    find("orders")
    write("orders")
    judge("orders")
    rows("orders")
    total("orders")
    sizes("orders")
