from pathlib import Path

from flowdsl import Volume, pipeline, step


@step(image="python:3.12-slim", cache=True, store=None)
def clean(name: str) -> Path:
    table = Path("table.csv")
    table.write_text(name)
    return table


@pipeline(store=Volume("datasets") / "runs")
def nightly() -> None:
    clean("all")
