import os
from pathlib import Path

from flowdsl import Secret, Volume, pipeline, run, step

DATA = Volume("reviews")
TOKEN = Secret("hub", "token")


@step(image="python:3.12-slim")
def count(table: Path) -> int:
    return len(table.read_text())


@step(image="python:3.12-slim", secrets={"TOKEN": TOKEN})
def publish(name: str, rows: int) -> None:
    print(name, rows, len(os.environ["TOKEN"]))


@pipeline
def nightly() -> None:
    publish(run.name, count(DATA / "orders.csv"))
