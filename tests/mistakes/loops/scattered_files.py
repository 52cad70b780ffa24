"""A loop's pipeline returns a file that was given to it."""

from pathlib import Path

from flowdsl import either, fan_out, pipeline, step, when


@step(image="python:3.12-slim")
def read(table: str) -> Path:
    target = Path("table.csv")
    target.write_text(table)
    return target


@step(image="python:3.12-slim")
def clean(table: Path) -> Path:
    target = Path("clean.csv")
    target.write_text(table.read_text().strip())
    return target


@step(image="python:3.12-slim")
def merge(tables: list[Path]) -> int:
    return len(tables)


@pipeline
def cleaned(kind: str, table: Path) -> Path:
    with when(kind == "raw"):
        better = clean(table)
    return either(better, table)


@pipeline
def nightly(name: str = "orders") -> None:
    merge(fan_out(cleaned, over={"kind": ["raw", "clean"]}, table=read(name)))
