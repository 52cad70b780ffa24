"""Lists and dicts are put together in the pipeline."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def columns(table: str) -> list[str]:
    return table.split(",")


@step(image="python:3.12-slim")
def train(features: list[str]) -> None:
    print(features)


@pipeline
def nightly() -> None:
    train(columns("orders") + columns("users"))
    train.options(name="sliced")(columns("events")[:3])
