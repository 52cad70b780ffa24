"""Mistakes in a decorator, in the options of one call, in names and in a step's source: all in one run."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim", memory="8GB")
def load(table: str) -> int:
    return len(tabel)


@step(image="python:3.12-slim")
def publish(rows: int) -> None:
    print(rows)


@pipeline
def nightly() -> None:
    rows = load.options(env={"HUB_TOKEN": "hf_4Rzs8yXbQ2"}, cpu="two")("orders")
    publish(rows)
    publish(rows)
    publish.options(name="2 rows")(rows)
