from pathlib import Path

from flowdsl import Volume, command, container, either, pipeline, step, when

DATA = Volume("datasets")


@step(image="python:3.12-slim")
def load(name: str) -> Path:
    return Path(name)


@container(image="busybox:1.37.0")
def show(table: Path) -> None:
    command("cat", table)


@pipeline(store=DATA / "runs")
def nightly(fresh: bool = True) -> None:
    old = load("old")
    with when(fresh):
        new = load("new")
    show(either(new, old))
