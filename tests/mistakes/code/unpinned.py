"""Packages of which a run takes whatever is newest: warnings, also for the default of a pipeline."""

from flowdsl import pipeline, step

IMAGE = "python:3.12-slim"


@step(image=IMAGE, packages=["pandas[excel]>=2.2,<3", "tools @ git+https://example.com/tools.git", "numpy==2.1"])
def load(rows: int) -> int:
    return rows


@step(image=IMAGE)
def report(rows: int) -> None:
    print(rows)


@pipeline(packages=["requests"])
def nightly() -> None:
    report(load(3))
