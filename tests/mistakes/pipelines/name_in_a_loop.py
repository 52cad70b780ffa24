"""A name that is asked for in each run of a loop, and one that is known only at run time."""

from flowdsl import pipeline, run, step


@step(image="python:3.12-slim")
def load(table: str) -> None:
    print(table)


@pipeline
def nightly() -> None:
    for table in ("orders", "users"):
        load.options(name="load")(table)
    load.options(name=run.name)("events")
    load.options(name=f"load-{run.name}")("items")
    load.options(name=4)("prices")
