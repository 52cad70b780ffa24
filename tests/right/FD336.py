from pathlib import Path

from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def read(table: str) -> Path:
    target = Path("table.csv")
    target.write_text(table)
    return target


@step(image="python:3.12-slim")
def clean(table: Path, kind: str) -> Path:
    target = Path("clean.csv")
    text = table.read_text()
    target.write_text(text.strip() if kind == "raw" else text)
    return target


@step(image="python:3.12-slim")
def merge(tables: list[Path]) -> int:
    return len(tables)


@pipeline
def cleaned(kind: str, table: Path) -> Path:
    return clean(table, kind)


@pipeline
def nightly(name: str = "orders") -> None:
    merge(fan_out(cleaned, over={"kind": ["raw", "clean"]}, table=read(name)))
