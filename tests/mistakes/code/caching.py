"""Caching that is written wrong, and a step without a result to keep."""

from pathlib import Path

from flowdsl import Cache, Volume, pipeline, step

IMAGE = "python:3.12-slim"
DATA = Volume("datasets")


@step(image=IMAGE, cache=True)
def publish(model: Path) -> None:
    print(model)


@step(image=IMAGE, cache="7d")
def load(rows: int) -> int:
    return rows


@step(image=IMAGE, cache=Cache(max_age="1 week"))
def clean(rows: int) -> int:
    return rows


@step(image=IMAGE, cache=Cache(salt=7))
def check(rows: int) -> int:
    return rows


@pipeline
def nightly() -> None:
    check(clean(load(3)))
    publish(DATA / "model.bin")
