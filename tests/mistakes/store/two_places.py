from pathlib import Path

from flowdsl import Volume, either, pipeline, step, when

DATA = Volume("datasets")


@step(image="python:3.12-slim")
def load(name: str) -> Path:
    return Path(name)


@step(image="python:3.12-slim")
def show(table: Path) -> None:
    print(table.read_text())


@pipeline(store=DATA / "runs")
def nightly(fresh: bool = True) -> None:
    old = load.options(store=None)("old")
    with when(fresh):
        new = load("new")
    show(either(new, old))
