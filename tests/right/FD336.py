from pathlib import Path

from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def sample(table: str) -> Path:
    target = Path("sample.csv")
    target.write_text(table if len(table) > 5 else table[:3])
    return target


@step(image="python:3.12-slim")
def merge(tables: list[Path]) -> int:
    return len(tables)


@pipeline
def load(table: str) -> Path:
    return sample(table)


@pipeline
def nightly() -> None:
    merge(fan_out(load, over={"table": ["orders", "users"]}))
