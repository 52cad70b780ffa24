"""Cached steps that take files of which no key can tell the content."""

from pathlib import Path

from flowdsl import S3, Git, call_template, pipeline, step


@step(image="python:3.12-slim", cache=True)
def count(table: Path) -> int:
    return len(table.read_bytes())


@call_template("library", "clean", names={"return": "cleaned"})
def clean() -> Path:
    raise NotImplementedError


@pipeline
def each(table: Path) -> int:
    return count(table)


@pipeline
def nightly(base: Path = S3("base.csv")) -> None:
    count.options(name="object")(S3("table.csv"))
    count.options(name="branch")(Git("https://example.com/data.git", "main"))
    each(S3("table.csv"))
    count.options(name="given")(base)
    count.options(name="foreign")(clean())
