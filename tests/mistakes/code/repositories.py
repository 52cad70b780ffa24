"""Modules of the project from a repository that may be another one tomorrow."""

import _models

from flowdsl import Git, Volume, command, container, pipeline, step

IMAGE = "python:3.12-slim"
DATA = Volume("datasets")


@step(image=IMAGE, code=Git("https://example.com/team/models.git", revision="main") / "src")
def train(rows: int) -> int:
    return _models.train(rows)


@step(image=IMAGE, code=Git("https://example.com/team/models.git"))
def test(rows: int) -> int:
    return rows


@step(image=IMAGE, packages=["models==1.0"])
def report(rows: int) -> None:
    _models.show(rows)


@step(image=IMAGE, code="src")
def check(rows: int) -> None:
    print(rows)


@step(image=IMAGE, code=DATA / "../src")
def compare(rows: int) -> None:
    print(rows)


@step(image=IMAGE, code=Git("https://example.com/team/models.git", revision="v1.0.0", depth=0))
def clean(rows: int) -> None:
    print(rows)


@container(image="busybox", code=DATA / "src")
def notify(rows: int) -> None:
    command("echo", rows)


@pipeline(code=Volume("Data_Sets"))
def nightly() -> None:
    rows = test(train(3))
    report(rows)
    check(rows)
    compare(rows)
    clean(rows)
    notify(rows)
