from pathlib import Path

from flowdsl import Volume, pipeline, step


@step(image="python:3.12-slim")
def load() -> Path:
    return Path("table")


@pipeline(store=Volume("data-sets", mode="ReadWriteMany") / "runs")
def nightly() -> Path:
    return load()
