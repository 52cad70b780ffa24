"""The files of a loop's pipeline are made by one of two steps."""

from pathlib import Path

from flowdsl import either, fan_out, otherwise, pipeline, step, when


@step(image="python:3.12-slim")
def is_large(table: str) -> bool:
    return len(table) > 5


@step(image="python:3.12-slim")
def sample(table: str) -> Path:
    target = Path("sample.csv")
    target.write_text(table)
    return target


@step(image="python:3.12-slim")
def whole(table: str) -> Path:
    target = Path("whole.csv")
    target.write_text(table)
    return target


@step(image="python:3.12-slim")
def merge(tables: list[Path]) -> int:
    return len(tables)


@pipeline
def load(table: str) -> Path:
    with when(is_large(table)):
        small = sample(table)
    with otherwise():
        full = whole(table)
    return either(small, full)


@pipeline
def nightly() -> None:
    merge(fan_out(load, over={"table": ["orders", "users"]}))
