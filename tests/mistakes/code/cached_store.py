from pathlib import Path

from flowdsl import Volume, pipeline, step

DATA = Volume("datasets")


@step(image="python:3.12-slim", cache=True)
def clean(name: str) -> Path:
    return Path(name)


@step(image="python:3.12-slim")
def show(table: Path) -> None:
    print(table.read_text())


@pipeline(store=DATA / "runs")
def nightly() -> None:
    show(clean("all"))
